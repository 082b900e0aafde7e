import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startOauthProgram } from '../harness/oauth-program.ts'
import { bin, quietly, startHttpProgram, startProcess } from '../harness/program.ts'
import { startBridge } from './stdio-bridge.ts'
import type { Leg } from './suite.ts'

/** Names of the servers that the suite tests. */
export type TargetName =
  | 'server over HTTP'
  | 'server over stdio'
  | 'fixture over HTTP'
  | 'fixture over stdio'
  | 'authorization server'

interface Target extends AsyncDisposable {
  /** URL of MCP, or issuer of the authorization server. */
  readonly url: string
}

const fixture = [process.execPath, join(import.meta.dirname, 'fixture-server.ts')]

/**
 * Starts a target: the built server with a sandbox, or the fixture with the suite's own tools,
 * resources and prompts.
 */
export const targets: Readonly<Record<TargetName, () => Promise<Target>>> = {
  'server over HTTP': () => startHttpProgram(),
  'server over stdio': () =>
    startBridge([process.execPath, bin, 'stdio'], {
      ...quietly,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
    }),
  async 'fixture over HTTP'() {
    const program = startProcess([...fixture, 'http'])
    const [url] = await once(createInterface(program.process.stdout), 'line')
    return Object.assign(program, { url: String(url) })
  },
  'fixture over stdio': () =>
    // Every session starts the fixture, which spends half of its start compiling.
    startBridge([...fixture, 'stdio'], {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache'),
    }),
  async 'authorization server'() {
    const program = await startOauthProgram()
    return Object.assign(program, { url: program.origin })
  },
}

/** Tested part of a target. */
export const legOf = (target: TargetName): Leg =>
  target === 'authorization server' ? 'authorization' : 'server'

/** Scenarios that need tools, resources or prompts of the fixture. */
const forFixture = [
  /^tools-call-/,
  /^resources-(read|templates|subscribe|unsubscribe)/,
  /^prompts-get-/,
  /^completion-complete$/,
  /^elicitation-/,
  /^json-schema-/,
  /^input-required-result-(?!unsupported-methods$)/,
  /^tasks-/,
  /^server-sse-polling$/,
  /^http-custom-header-server-validation$/,
]

/** Scenarios about HTTP itself: its headers, status codes, sessions and streams. */
const forHttp = [
  /^dns-rebinding-protection$/,
  /^http-/,
  /^server-(sse-|session-lifecycle$)/,
  /^tasks-request-headers$/,
]

/** Scenarios about features that only the real server has. */
const forServer = [/^sep-2640-skills-/]

/** True if a scenario can run against a target. */
export function applies(scenario: string, target: TargetName): boolean {
  const isOneOf = (patterns: readonly RegExp[]) => patterns.some((one) => one.test(scenario))
  if (target.startsWith('server') && isOneOf(forFixture)) return false
  if (target.startsWith('fixture') && isOneOf(forServer)) return false
  return !target.endsWith('stdio') || !isOneOf(forHttp)
}

/** True if a check applies to a target: status codes do not apply to stdio. */
export const concerns = (checkId: string, target: TargetName): boolean =>
  !target.endsWith('stdio') || !checkId.includes('-http-')
