import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hasPostgres } from '../../../test/harness/postgres-server.ts'
import { areMet, circumstances, type Section, table, writeJson } from '../measure/report.ts'
import { growth } from './growth.ts'
import { http } from './http.ts'
import { npmPackage } from './package.ts'
import { plot } from './plot.ts'
import { sandbox } from './sandbox.ts'
import { state } from './state.ts'
import { stdio } from './stdio.ts'

/*
 * How fast the server is, each figure beside what it is compared with, measured in the same run:
 *   npm run bench [-- --only http --seconds 3 --rounds 3 --json bench.json]
 * Needs Linux with taskset and two cores; the part `state` also the PostgreSQL of test/real, which
 * `npm run test:slow` installs.
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

const parts: Record<string, () => Promise<Section[]>> = {
  stdio: () => stdio(Number(flags.starts)),
  http: () => http({ seconds: Number(flags.seconds), rounds: Number(flags.rounds) }),
  ...(hasPostgres() && {
    state: () => state({ seconds: Number(flags.seconds), rounds: Number(flags.rounds) }),
  }),
  package: npmPackage,
  sandbox: () => sandbox(Number(flags.conversations)),
  async growth() {
    const { curves, sections } = await growth()
    const { date, machine } = circumstances()
    writeFileSync(join(import.meta.dirname, 'growth.svg'), plot(curves, `${date}, ${machine}`))
    return sections
  },
}

const sections: Section[] = []
for (const name of flags.only?.split(',') ?? Object.keys(parts)) {
  const part = parts[name]
  if (!part)
    throw new Error(`There is no part ${name}. The parts are ${Object.keys(parts).join(', ')}.`)
  const measured = await part()
  process.stdout.write(table(measured))
  sections.push(...measured)
}
writeJson(flags.json, sections)
if (!areMet(sections)) process.exitCode = 1
