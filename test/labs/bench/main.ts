import packageJson from '../../../package.json' with { type: 'json' }
import { maxBytes, npmPack } from '../../../src/dev/release/npm-package.ts'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { hasPostgres } from '../../harness/postgres-server.ts'
import { areMet, round, type Section, table, writeJson } from '../measure/report.ts'
import { growth } from './growth.ts'
import { http } from './http.ts'
import { sandbox } from './sandbox.ts'
import { state } from './state.ts'
import { stdio } from './stdio.ts'
import { waits } from './waits.ts'

const usage = `Measures the speed and memory of the server, each beside a baseline that is measured in the same run.
Needs Linux with taskset and two cores. The part state also needs the PostgreSQL of test/postgres,
which npm run test:slow installs.

npm run bench [-- --only PART,… --seconds 3 --rounds 3 --json bench.json --help]

  --only           parts to measure: stdio, http, state, package, sandbox, growth, waits (default all)
  --seconds        duration of each load (default 3)
  --rounds         number of repetitions of each load (default 3)
  --starts         number of starts of the program (default 20)
  --conversations  number of conversations in the sandbox (default 1000000)
  --waits          number of clients that wait for calls (default 1000)
  --json           file for all figures (default bench.json)

Exits with 1 if a goal is not met, with 2 if it cannot run.
`

const { flags, refuse } = readScript(usage, {
  only: undefined,
  seconds: 3,
  rounds: { usual: 3, min: 1 },
  starts: { usual: 20, min: 1 },
  conversations: 1_000_000,
  waits: { usual: 1000, min: 1 },
  json: 'bench.json',
})

/** Size of the package that `npm pack` would publish. Requires a build. */
function npmPackage(): Section[] {
  const { size, unpackedSize, files } = npmPack('--dry-run')
  const dependencies = Object.keys(Object(packageJson).dependencies ?? {})
  return [
    {
      title: 'package',
      unit: 'MB',
      values: { download: round(size / 1e6), files: files.length },
      goals: [
        { name: 'unpacked', value: round(unpackedSize / 1e6), atMost: maxBytes / 1e6 },
        { name: 'runtime dependencies', value: dependencies.length, atMost: 0 },
      ],
    },
  ]
}

const parts: Record<string, () => Promise<Section[]> | Section[]> = {
  stdio: () => stdio(flags.starts),
  http: () => http(flags),
  ...(hasPostgres() && { state: () => state(flags) }),
  package: npmPackage,
  sandbox: () => sandbox(flags.conversations),
  growth,
  waits: () => waits({ waits: flags.waits, seconds: 10 * flags.seconds }),
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
