import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import { mayImport } from './table.ts'

/*
 * npm run arrows [-- FOLDER]: checks the imports of src/, tools/, test/ and docs/examples/ against
 * table.ts. Each room becomes a zone of fallow, which reads the imports: https://fallow.tools/docs.
 * Circles of files are refused by Biome (`noImportCycles`), because fallow leaves out imports of
 * types there.
 */

const projectRoot = join(import.meta.dirname, '../../..')
const codeFiles = '{src,tools,test,docs/examples}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,css}'

/** Files that may import the same; a room that ends in `/*` has one zone per file. */
interface Zone {
  readonly name: string
  readonly patterns: readonly string[]
  readonly room: string
}

const ImportReport = z.object({
  boundary_violations: z.array(z.object({ from_path: z.string(), to_path: z.string() })),
  boundary_coverage_violations: z.array(z.object({ path: z.string() })),
})

const ZoneReport = z.object({
  boundaries: z.object({ zones: z.array(z.object({ name: z.string(), file_count: z.number() })) }),
})

/** Everything that is wrong with the imports in a folder; empty when they follow the table. */
export function importProblems(root: string): string[] {
  const scratch = mkdtempSync(join(tmpdir(), 'arrows-'))
  try {
    const config = join(scratch, 'fallow.json')
    writeFileSync(config, JSON.stringify(fallowConfig(root)))
    const listed = ZoneReport.parse(fallow(root, 'list', '--boundaries', '--config', config))
    const found = ImportReport.parse(
      fallow(root, 'architecture', '--boundaries', '--config', config),
    )
    return [
      ...rowsOutOfOrder(),
      ...zoneProblems(root, listed.boundaries.zones),
      ...found.boundary_coverage_violations.map(({ path }) => `${path} is in no row of the table`),
      ...forbiddenImports(found.boundary_violations),
    ]
  } finally {
    rmSync(scratch, { recursive: true })
  }
}

function fallowConfig(root: string) {
  const zones = Object.keys(mayImport).flatMap((room) => zonesOf(root, room))
  // The first zone that has a file counts: the longest names go first.
  zones.sort((one, other) => other.name.length - one.name.length)
  const allowed = (room: string) =>
    zones.filter((zone) => roomsNamed(room).includes(zone.room)).map(({ name }) => name)
  return {
    boundaries: {
      coverage: { requireAllFiles: true, allowUnmatched: ['vitest*.config.ts'] },
      zones: zones.map(({ name, patterns }) => ({ name, patterns })),
      rules: zones.map(({ name, room }) => ({ from: name, allow: allowed(room) })),
    },
  }
}

function zonesOf(root: string, room: string): Zone[] {
  const path = /^(tools|test|docs)\b/.test(room) ? room : `src/${room}`
  if (path.endsWith('/*')) {
    return globSync(`${path}.ts`, { cwd: root })
      .map((file) => file.slice(0, -'.ts'.length))
      .filter((name) => !(name in mayImport))
      .map((name) => ({ name, patterns: [`${name}.ts`], room }))
  }
  const isFile = existsSync(join(root, `${path}.ts`))
  return [{ name: room, patterns: [isFile ? `${path}.ts` : `${path}/**`], room }]
}

const roomsNamed = (room: string): string[] =>
  Object.entries(mayImport)
    .filter(([name]) => name === room)
    .flatMap(([, allowed]) => [allowed].flat().join(' ').split(' '))
    .filter((name) => name !== '')

function rowsOutOfOrder(): string[] {
  const rooms = Object.keys(mayImport)
  return rooms.flatMap((room, place) =>
    roomsNamed(room)
      .filter((name) => !rooms.slice(0, place).includes(name))
      .map((name) => `table.ts: ${room} names ${name}, which is no earlier row`),
  )
}

/** A tool that reads no file finds no fault, so the files it has read are counted. */
function zoneProblems(
  root: string,
  zones: readonly { name: string; file_count: number }[],
): string[] {
  const read = zones.reduce((sum, zone) => sum + zone.file_count, 0)
  const files = globSync(codeFiles, { cwd: root, exclude: ['**/node_modules/**'] }).length
  return [
    ...zones.filter((zone) => zone.file_count === 0).map(({ name }) => `${name} has no file`),
    ...(read === files ? [] : [`fallow has read ${read} of ${files} files`]),
  ]
}

const forbiddenImports = (found: readonly { from_path: string; to_path: string }[]): string[] => [
  ...new Set(
    found.map(
      ({ from_path, to_path }) => `${from_path} → ${to_path}: the table does not allow this import`,
    ),
  ),
]

function fallow(root: string, ...args: string[]): unknown {
  const bin = fileURLToPath(import.meta.resolve('fallow/bin/fallow'))
  const given = [bin, ...args, '--root', root, '--format', 'json', '--quiet']
  const { stdout, stderr, error } = spawnSync(process.execPath, given, {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (error !== undefined || !stdout.startsWith('{')) throw error ?? new Error(stderr)
  return JSON.parse(stdout)
}

if (import.meta.main) {
  const problems = importProblems(process.argv[2] ?? projectRoot)
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
