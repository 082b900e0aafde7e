import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readScript } from '../../../src/dev/script.ts'
import { hasPostgres } from '../../harness/postgres-server.ts'
import { areMet, circumstances, type Section, table, writeJson } from '../measure/report.ts'
import { growth, plot } from './growth.ts'
import { http } from './http.ts'
import { npmPackage } from './package.ts'
import { sandbox } from './sandbox.ts'
import { state } from './state.ts'
import { stdio } from './stdio.ts'

const usage = `Measures how fast the server is, each figure beside what it is compared with, in the same run.
Needs Linux with taskset and two cores; the part state also the PostgreSQL of test/real, which
npm run test:slow installs.

npm run bench [-- --only PART,… --seconds 3 --rounds 3 --json bench.json --help]

  --only           these parts: stdio, http, state, package, sandbox, growth (default all)
  --seconds        how long each load lasts (default 3)
  --rounds         how often it is repeated (default 3)
  --starts         how often the program is started (default 20)
  --conversations  how many the sandbox gets (default 1000000)
  --json           the file for all figures (default bench.json)

Ends with 1 when a goal is not met, with 2 when it cannot run.
`

const { flags, refuse } = readScript(usage, {
  only: undefined,
  seconds: 3,
  rounds: { usual: 3, least: 1 },
  starts: { usual: 20, least: 1 },
  conversations: 1_000_000,
  json: 'bench.json',
})

const parts: Record<string, () => Promise<Section[]>> = {
  stdio: () => stdio(flags.starts),
  http: () => http(flags),
  ...(hasPostgres() && { state: () => state(flags) }),
  package: npmPackage,
  sandbox: () => sandbox(flags.conversations),
  async growth() {
    const { curves, sections } = await growth()
    const { date, machine } = circumstances()
    writeFileSync(join(import.meta.dirname, 'growth.svg'), plot(curves, `${date}, ${machine}`))
    return sections
  },
}

const noPart = (name: string) =>
  refuse(`There is no part ${name}. The parts are ${Object.keys(parts).join(', ')}.`)
const names = flags.only?.split(',') ?? Object.keys(parts)
const chosen = names.map((name) => parts[name] ?? noPart(name))

const sections: Section[] = []
for (const part of chosen) {
  const measured = await part()
  process.stdout.write(table(measured))
  sections.push(...measured)
}
writeJson(flags.json, sections)
if (!areMet(sections)) process.exitCode = 1
