import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startOauthProgram } from '../harness/oauth-program.ts'
import { bin, quietly, startHttpProgram, startProcess } from '../harness/program.ts'
import { startBridge } from './stdio-bridge.ts'
import type { Leg } from './suite.ts'

/** What the suite is run against. */
export type TargetName =
  | 'server over HTTP'
  | 'server over stdio'
  | 'fixture over HTTP'
  | 'fixture over stdio'
  | 'authorization server'

interface Target extends AsyncDisposable {
  /** The address of MCP, or the issuer of an authorization server. */
  readonly url: string
}

const fixture = [process.execPath, join(import.meta.dirname, 'fixture-server.ts')]

/** The built server with a sandbox; the fixture has the suite's own tools, resources and prompts. */
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
    // Every session starts the fixture: half the time of that is compiling.
    startBridge([...fixture, 'stdio'], {
      NODE_COMPILE_CACHE: join(import.meta.dirname, 'node_modules/.cache'),
    }),
  async 'authorization server'() {
    const program = await startOauthProgram()
    return Object.assign(program, { url: program.origin })
  },
}

/** What is tried at a target. */
export const legOf = (target: TargetName): Leg =>
  target === 'authorization server' ? 'authorization' : 'server'

/** Scenarios that need tools, resources or prompts of the suite, which the real server has not. */
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

/** Scenarios about what the real server has, and the fixture has not. */
const forServer = [/^sep-2640-skills-/]

/** Whether a scenario can be run against a target. */
export function applies(scenario: string, target: TargetName): boolean {
  const isOneOf = (patterns: readonly RegExp[]) => patterns.some((one) => one.test(scenario))
  if (target.startsWith('server') && isOneOf(forFixture)) return false
  if (target.startsWith('fixture') && isOneOf(forServer)) return false
  return !target.endsWith('stdio') || !isOneOf(forHttp)
}

/** Whether a check can be passed by a target: status codes are not for stdio. */
export const concerns = (checkId: string, target: TargetName): boolean =>
  !target.endsWith('stdio') || !checkId.includes('-http-')
