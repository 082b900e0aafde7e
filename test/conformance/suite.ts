import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import * as z from 'zod'
import { cleanEnv } from '../harness/program.ts'

/*
 * The official suite has two released lines. The newer one has a set of scenarios for each of two
 * revisions, as it was at their release. All others are chosen by what they apply to.
 */

export type Line = '0.1' | '0.2'
export type Revision = '2025-06-18' | '2025-11-25' | '2026-07-28'

/** The scenarios of one line for one revision. */
export interface ScenarioSet {
  readonly line: Line
  readonly revision: Revision
  /** Whether the line has a set for the revision, which does not change any more. */
  readonly isFrozen: boolean
}

export const scenarioSets: readonly ScenarioSet[] = [
  { line: '0.1', revision: '2025-11-25', isFrozen: false },
  { line: '0.2', revision: '2025-06-18', isFrozen: false },
  { line: '0.2', revision: '2025-11-25', isFrozen: true },
  { line: '0.2', revision: '2026-07-28', isFrozen: true },
]

const Check = z.object({
  id: z.string(),
  status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
  description: z.string().optional(),
  errorMessage: z.string().optional(),
})
/** What the suite has found out about one requirement. */
export type Check = z.infer<typeof Check>

const run = promisify(execFile)

const packageOf = (line: Line) => join(import.meta.dirname, 'node_modules', `conformance-${line}`)
const commandOf = (line: Line) => join(packageOf(line), 'dist/index.js')

const Requirements = z.object({
  server: z.array(z.string()),
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.enum(['server', 'client']) })),
})

/** The names of the server scenarios in a set, with those that the suite runs without a score. */
export async function scenariosIn({
  line,
  revision,
  isFrozen,
}: ScenarioSet): Promise<readonly string[]> {
  if (isFrozen) {
    const file = join(packageOf(line), 'requirements', `${revision}.yaml`)
    const { server, not_scored } = Requirements.parse(parse(readFileSync(file, 'utf8')))
    const notScored = not_scored.filter(({ leg }) => leg === 'server')
    return [...server, ...notScored.map(({ scenario }) => scenario)]
  }
  const { stdout } = await run(process.execPath, [
    commandOf(line),
    'list',
    '--server',
    '--spec-version',
    revision,
  ])
  return [...stdout.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name)
}

/** How long a whole set may take, ms. */
const longestRunMs = 300_000

/**
 * Runs a set against a server, or one of its scenarios, and returns the checks of each scenario.
 * A scenario that ended without a result is missing. Throws when the suite itself cannot run.
 */
export async function runSuite(
  { line, revision, isFrozen }: ScenarioSet,
  url: string,
  scenario?: string,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  const wire = ['--spec-version', revision]
  const all = isFrozen ? ['--requirements', revision] : ['--suite', 'all', ...wire]
  // Without --force, the newer line runs no scenario of an extension.
  const one = line === '0.1' ? wire : [...wire, '--force']
  const chosen = scenario === undefined ? all : ['--scenario', scenario, ...one]
  const args = [commandOf(line), 'server', '--url', url, '-o', folder, ...chosen]
  try {
    const failure = await run(process.execPath, args, {
      env: cleanEnv(),
      timeout: longestRunMs,
      maxBuffer: 64 * 1024 * 1024,
    }).then(
      () => undefined,
      (error: Error & { code?: unknown; stderr?: string }) => error,
    )
    // 1: a scenario has failed.
    if (failure && failure.code !== 1) throw failure
    const results = resultsIn(folder)
    if (results.size === 0) throw new Error(`The suite gave no result: ${failure?.stderr}`)
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The suite writes a folder for each scenario: `server-NAME-TIME`. */
function resultsIn(folder: string): ReadonlyMap<string, readonly Check[]> {
  const results = new Map<string, readonly Check[]>()
  for (const entry of readdirSync(folder)) {
    const name = /^server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(entry)?.[1]
    const file = join(folder, entry, 'checks.json')
    if (name === undefined || !existsSync(file)) continue
    results.set(name, z.array(Check).parse(JSON.parse(readFileSync(file, 'utf8'))))
  }
  return results
}
