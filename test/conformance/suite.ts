import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import * as z from 'zod'
import { givenClient } from '../harness/oauth-program.ts'
import { allowInSandbox } from '../harness/oauth-user-agent.ts'
import { cleanEnv, freePort } from '../harness/program.ts'

/*
 * The official suite has two released lines. The newer one has a frozen set of scenarios for each
 * of two revisions. Other scenarios are selected by the revisions that they apply to.
 */

export type Line = '0.1' | '0.2'
export type Revision = '2025-06-18' | '2025-11-25' | '2026-07-28'

/** The scenarios of one line for one revision. */
export interface ScenarioSet {
  readonly line: Line
  readonly revision: Revision
  /** True if the line has a frozen set for the revision. */
  readonly isFrozen: boolean
}

export const scenarioSets: readonly ScenarioSet[] = [
  { line: '0.1', revision: '2025-11-25', isFrozen: false },
  { line: '0.2', revision: '2025-06-18', isFrozen: false },
  { line: '0.2', revision: '2025-11-25', isFrozen: true },
  { line: '0.2', revision: '2026-07-28', isFrozen: true },
]

/** Tested part of a server: MCP, or its authorization server. */
export type Leg = 'server' | 'authorization'

const Check = z.object({
  id: z.string(),
  status: z.enum(['SUCCESS', 'FAILURE', 'WARNING', 'SKIPPED', 'INFO']),
  description: z.string().optional(),
  errorMessage: z.string().optional(),
})
/** Result of one check of the suite. */
export type Check = z.infer<typeof Check>

const run = promisify(execFile)

const packageOf = (line: Line) => join(import.meta.dirname, 'node_modules', `conformance-${line}`)
/** Path of the suite's program. */
const commandOf = (line: Line) => join(packageOf(line), 'dist/index.js')

const Requirements = z.object({
  server: z.array(z.string()),
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.enum(['server', 'client']) })),
})

/** Scenarios of an extension, which are in no set and run by name. The older line has none. */
const skillScenarios = [
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'sep-2640-skills-directory',
]
export const isRunByName = (scenario: string): boolean => skillScenarios.includes(scenario)

/**
 * Names of the scenarios in a set, including unscored ones and those that run by name. Only
 * non-frozen sets of the newer line test authorization servers.
 */
export async function scenariosIn(
  { line, revision, isFrozen }: ScenarioSet,
  leg: Leg,
): Promise<readonly string[]> {
  if (leg === 'authorization' && line === '0.1') return []
  const named = leg === 'server' && line === '0.2' ? skillScenarios : []
  if (leg === 'server' && isFrozen) {
    const file = join(packageOf(line), 'requirements', `${revision}.yaml`)
    const { server, not_scored } = Requirements.parse(parse(readFileSync(file, 'utf8')))
    const notScored = not_scored.filter(({ leg }) => leg === 'server')
    return [...server, ...notScored.map(({ scenario }) => scenario), ...named]
  }
  const { stdout } = await run(process.execPath, [
    commandOf(line),
    'list',
    `--${leg}`,
    '--spec-version',
    revision,
  ])
  const listed = [...stdout.matchAll(/^ {2}- (\S+) \[/gm)].map(([, name = '']) => name)
  return [...listed, ...named]
}

/** Time limit of a set, ms. */
const longestRunMs = 300_000

/**
 * Runs a set, or one of its scenarios, against a server. Returns the checks of each scenario; a
 * scenario that ended without a result is missing. Throws if the suite itself cannot run.
 */
export async function runSuite(
  { line, revision, isFrozen }: ScenarioSet,
  url: string,
  scenario?: string,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const wire = ['--spec-version', revision]
  const all = isFrozen ? ['--requirements', revision] : ['--suite', 'all', ...wire]
  // Without --force, the newer line skips scenarios of extensions.
  const one = line === '0.1' ? wire : [...wire, '--force']
  const chosen = scenario === undefined ? all : ['--scenario', scenario, ...one]
  const args = [commandOf(line), 'server', '--url', url, ...chosen]
  return resultsOf(async (folder) => {
    const failure = await run(process.execPath, [...args, '-o', folder], {
      env: cleanEnv(),
      timeout: longestRunMs,
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: Error & { code?: unknown }) => error)
    // Exit code 1 means that a scenario failed.
    if (failure instanceof Error && failure.code !== 1) throw failure
  })
}

/**
 * Runs the suite with an output folder and reads the checks of each scenario. Throws if there are
 * none.
 */
async function resultsOf(
  runInto: (folder: string) => Promise<void>,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
  try {
    await runInto(folder)
    const results = resultsIn(folder)
    if (results.size === 0) throw new Error('The suite gave no result.')
    return results
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The suite writes a folder for each scenario: `server-NAME-TIME`. */
function resultsIn(folder: string): ReadonlyMap<string, readonly Check[]> {
  const results = new Map<string, readonly Check[]>()
  for (const entry of readdirSync(folder)) {
    const named = /^(?:authorization-)?server-(.+)-\d{4}-\d{2}-\d{2}T[\d-]+Z$/.exec(entry)
    const file = join(folder, entry, 'checks.json')
    if (named?.[1] === undefined || !existsSync(file)) continue
    results.set(named[1], z.array(Check).parse(JSON.parse(readFileSync(file, 'utf8'))))
  }
  return results
}

/**
 * Runs the scenarios for authorization servers. The suite is the client; the test allows access as
 * a person would.
 */
export function runAuthorization(
  { line, revision }: ScenarioSet,
  issuer: string,
): Promise<ReadonlyMap<string, readonly Check[]>> {
  return resultsOf(async (folder) => {
    const client = ['--client-id', givenClient.client_id, '--port', String(await freePort())]
    const server = ['--url', issuer, '--resource', `${issuer}/mcp`]
    const args = [...server, ...client, '--spec-version', revision, '-o', folder]
    const suite = spawn(process.execPath, [commandOf(line), 'authorization', ...args], {
      env: cleanEnv(),
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: longestRunMs,
    })
    let failure: unknown
    createInterface(suite.stdout).on('line', (text) => {
      if (!/^http\S+[?&]response_type=code/.test(text)) return
      allow(text).catch((error: unknown) => {
        failure = error
        // The redirect will not come, but the suite would wait minutes for it.
        suite.kill()
      })
    })
    await once(suite, 'close')
    if (failure) throw failure
  })
}

/** Allows access at the authorization URL, and returns to the suite. */
async function allow(authorizationUrl: string): Promise<void> {
  await fetch(await allowInSandbox(authorizationUrl))
}
