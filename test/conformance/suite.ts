import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { parse } from 'yaml'
import * as z from 'zod'
import { allowInSandbox } from '../harness/oauth-person.ts'
import { givenClient } from '../harness/oauth-program.ts'
import { cleanEnv, freePort } from '../harness/program.ts'

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

/** What of a server is tried: MCP, or its authorization server. */
export type Leg = 'server' | 'authorization'

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
/** The program of a line. */
const commandOf = (line: Line) => join(packageOf(line), 'dist/index.js')

const Requirements = z.object({
  server: z.array(z.string()),
  not_scored: z.array(z.object({ scenario: z.string(), leg: z.enum(['server', 'client']) })),
})

/** Scenarios of an extension that are in no set: each is run by its name. The older line has none. */
const skillScenarios = [
  'sep-2640-skills-enumeration',
  'sep-2640-skills-manifest',
  'sep-2640-skills-directory',
]
export const isRunByName = (scenario: string): boolean => skillScenarios.includes(scenario)

/**
 * The names of the scenarios in a set, with those that the suite runs without a score or by name. No
 * frozen set has authorization servers, and the older line has none at all.
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
  const wire = ['--spec-version', revision]
  const all = isFrozen ? ['--requirements', revision] : ['--suite', 'all', ...wire]
  // Without --force, the newer line runs no scenario of an extension.
  const one = line === '0.1' ? wire : [...wire, '--force']
  const chosen = scenario === undefined ? all : ['--scenario', scenario, ...one]
  const args = [commandOf(line), 'server', '--url', url, ...chosen]
  return resultsOf(async (folder) => {
    const failure = await run(process.execPath, [...args, '-o', folder], {
      env: cleanEnv(),
      timeout: longestRunMs,
      maxBuffer: 64 * 1024 * 1024,
    }).catch((error: Error & { code?: unknown }) => error)
    // 1: a scenario has failed.
    if (failure instanceof Error && failure.code !== 1) throw failure
  })
}

/** The checks of each scenario of a run that writes into a folder. Throws where there is none. */
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

/** Runs the scenarios for authorization servers: the suite is the client, a person allows it. */
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
        // It would wait for minutes.
        suite.kill()
      })
    })
    await once(suite, 'close')
    if (failure) throw failure
  })
}

/** What a person does with the address that the suite shows, up to the page of the suite. */
async function allow(authorizationUrl: string): Promise<void> {
  await fetch(await allowInSandbox(authorizationUrl))
}
