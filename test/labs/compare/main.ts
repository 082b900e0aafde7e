import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { readScript } from '../../../src/dev/script-arguments.ts'
import { type Recording, record } from './recording.ts'

const usage = `Compares what users of two builds see: every tool with good and bad arguments in both protocol
revisions and over both transports, resources, prompts, pages, log lines, metrics, commands and help.

npm run compare -- REFERENCE [CHECKOUT] [--only WORD] [--json]
  REFERENCE  folder of a checkout of the earlier version, with its own npm ci and npm run build
  CHECKOUT   the same of the later one (default: this)
  --only     only what has this word in its name
  --json     the differences as one JSON document

Ends with 0 when nothing differs, with 1 when something does, with 2 when it cannot run.
`

interface Difference {
  readonly where: string
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

function differencesOf(before: Recording, after: Recording, word: string): Difference[] {
  const places = [...new Set([...before.keys(), ...after.keys()])]
  return places
    .filter((where) => where.includes(word))
    .flatMap((where) =>
      differences(before.get(where), after.get(where)).map((found) => ({ where, ...found })),
    )
}

/** The innermost values that differ. */
function differences(before: unknown, after: unknown, path = ''): Omit<Difference, 'where'>[] {
  if (isDeepStrictEqual(before, after)) return []
  if (!isContainer(before) || !isContainer(after) || Array.isArray(before) !== Array.isArray(after))
    return [{ path, before, after }]
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return names.flatMap((name) => differences(before[name], after[name], `${path}/${name}`))
}

const isContainer = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'absent').slice(0, 2000)

const { flags, positionals, refuse } = readScript(
  usage,
  { only: '', json: false },
  { allowPositionals: true },
)

async function main(): Promise<number> {
  const [reference, checkout = join(import.meta.dirname, '../../..')] = positionals
  if (reference === undefined) return refuse('REFERENCE is missing.')
  const folders = [resolve(reference), resolve(checkout)] as const
  for (const folder of folders) {
    if (existsSync(join(folder, 'dist/voice-agent-mcp.js'))) continue
    process.stderr.write(`${folder} has no build: run npm ci && npm run build there.\n`)
    return 2
  }
  const before = await record(folders[0])
  const after = await record(folders[1])
  const found = differencesOf(before, after, flags.only)
  if (flags.json) process.stdout.write(`${JSON.stringify(found, undefined, 2)}\n`)
  else {
    for (const { where, path, before: was, after: is } of found) {
      process.stdout.write(`${where} ${path}\n  - ${shown(was)}\n  + ${shown(is)}\n`)
    }
    process.stdout.write(`${after.size} places compared, ${found.length} differences.\n`)
  }
  return found.length === 0 ? 0 : 1
}

process.exitCode = await main()
