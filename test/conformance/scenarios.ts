import type { TargetName } from './targets.ts'

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

/** Whether a scenario can be run against a target. */
export function applies(scenario: string, target: TargetName): boolean {
  const isOneOf = (patterns: readonly RegExp[]) => patterns.some((one) => one.test(scenario))
  if (target.startsWith('server') && isOneOf(forFixture)) return false
  return !target.endsWith('stdio') || !isOneOf(forHttp)
}

/** Whether a check can be passed by a target: status codes are not for stdio. */
export const concerns = (checkId: string, target: TargetName): boolean =>
  !target.endsWith('stdio') || !checkId.includes('-http-')
