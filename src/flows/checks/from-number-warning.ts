import { ApiError } from '../../api/failure.ts'
import { resultOr } from '../../api/time-limit.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { type DialogText, quotedUpTo } from '../../text/dialog-text.ts'
import { accountReader } from './account-reader.ts'
import type { CheckResult } from './check-result.ts'
import { checkFromNumber } from './from-number-check.ts'

/** Longest warning in a question, in characters. */
const longestWarning = 500

/** How long a question waits for the check of the number, ms. */
const longestWaitMs = 1000

/**
 * A warning for the person who confirms a call: the number that is called from has a problem. Empty
 * if it has none, or if that is not known in time. The call is not refused, because the reference
 * does not say whether the platform would take it. Cached replies are used, but a problem is read
 * again before it is shown.
 */
export async function fromNumberWarning(
  { request, restricted, signal }: Pick<Run, 'request' | 'restricted' | 'signal'>,
  from: string | undefined,
): Promise<Record<string, DialogText>> {
  if (from === undefined) return {}
  const reader = accountReader({ request, session: restricted, signal })
  const firstProblem = async (how: 'cached' | 'refreshed') => {
    const checks = await checkFromNumber(from, {
      ...reader,
      call: (route, given) => reader[how](route, given, 'names'),
    })
    return checks.find(({ ok }) => !ok)
  }
  const found = firstProblem('cached')
    .then((cached) => cached && firstProblem('refreshed'))
    .catch(ignoreApiError)
  const shown = await resultOr<CheckResult | undefined, undefined>(found, () => undefined, {
    ms: longestWaitMs,
  })
  return shown
    ? { 'Will probably fail': quotedUpTo(`${shown.found}; ${shown.fix}`, longestWarning) }
    : {}
}

function ignoreApiError(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error
}
