import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { growth } from './growth.ts'
import { http } from './http.ts'
import { npmPackage } from './package.ts'
import { plot } from './plot.ts'
import { isMet, type Section, table } from './report.ts'
import { sandbox } from './sandbox.ts'
import { stdio } from './stdio.ts'

/*
 * How near the server is to the floor, each figure beside what it is compared with, in one run:
 *   npm run bench [-- --only http --seconds 3 --rounds 3 --json bench.json]
 * Needs Linux with taskset and two cores.
 */

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    starts: { type: 'string', default: '20' },
    conversations: { type: 'string', default: '1000000' },
    json: { type: 'string', default: 'bench.json' },
  },
})
const today = new Date().toISOString().slice(0, 10)
const machine = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, Node ${process.versions.node}`
const effort = { seconds: Number(flags.seconds), rounds: Number(flags.rounds) }

const parts: Record<string, () => Promise<Section[]>> = {
  stdio: () => stdio(Number(flags.starts)),
  http: () => http(effort),
  package: npmPackage,
  sandbox: () => sandbox(Number(flags.conversations)),
  async growth() {
    const { curves, sections } = await growth()
    writeFileSync(join(import.meta.dirname, 'growth.svg'), plot(curves, `${today}, ${machine}`))
    return sections
  },
}

const wanted = flags.only?.split(',') ?? Object.keys(parts)
const sections: Section[] = []
for (const name of wanted) {
  const part = parts[name]
  if (!part)
    throw new Error(`There is no part ${name}. There are ${Object.keys(parts).join(', ')}.`)
  const made = await part()
  process.stdout.write(`${table(made)}\n`)
  sections.push(...made)
}
const report = { date: today, machine, sections }
writeFileSync(flags.json, `${JSON.stringify(report, null, 2)}\n`)
if (!sections.every(({ goals }) => goals.every(isMet))) process.exitCode = 1
