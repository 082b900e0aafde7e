import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type ScriptUsage, scriptUsage } from '../../../src/dev/script-usage.ts'
import { hasPostgres } from '../../harness/postgres-server.ts'
import { areMet, circumstances, type Section, table, writeJson } from '../measure/report.ts'
import { growth } from './growth.ts'
import { http } from './http.ts'
import { npmPackage } from './package.ts'
import { plot } from './plot.ts'
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

const script: ScriptUsage = scriptUsage(usage)
const { values: flags } = script.readOr(() =>
  parseArgs({
    options: {
      only: { type: 'string' },
      seconds: { type: 'string', default: '3' },
      rounds: { type: 'string', default: '3' },
      starts: { type: 'string', default: '20' },
      conversations: { type: 'string', default: '1000000' },
      json: { type: 'string', default: 'bench.json' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  }),
)
script.showIf(flags.help)
const load = {
  seconds: script.number('seconds', flags.seconds),
  rounds: script.number('rounds', flags.rounds, 1),
}
const starts = script.number('starts', flags.starts, 1)
const conversations = script.number('conversations', flags.conversations)

const parts: Record<string, () => Promise<Section[]>> = {
  stdio: () => stdio(starts),
  http: () => http(load),
  ...(hasPostgres() && { state: () => state(load) }),
  package: npmPackage,
  sandbox: () => sandbox(conversations),
  async growth() {
    const { curves, sections } = await growth()
    const { date, machine } = circumstances()
    writeFileSync(join(import.meta.dirname, 'growth.svg'), plot(curves, `${date}, ${machine}`))
    return sections
  },
}

const noPart = (name: string) =>
  script.refuse(`There is no part ${name}. The parts are ${Object.keys(parts).join(', ')}.`)
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
