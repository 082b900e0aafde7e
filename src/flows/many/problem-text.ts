import type { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { Refused } from '../../mcp/call/refused.ts'
import { firstCharacters } from '../../text/first-characters.ts'

/** Longest reason that is given for one of many things, in characters. */
const longestProblem = 600

/** Why one of many things failed, as one line: what is wrong, and in which argument. */
export function problemText(error: ApiError | Refused): string {
  return firstCharacters(wholeText(error), longestProblem)
}

function wholeText(error: ApiError | Refused): string {
  if (error instanceof Refused) {
    const { what, fields } = error.advice
    if (fields.length === 0) return what
    return fields.map(({ argument, message }) => `${argument}: ${message}`).join('; ')
  }
  const { failure } = error
  if (failure.kind !== 'rejected') return failureText(failure)
  const fields = failure.errors.map(
    ({ field, message }) => `${field.replace(/^(body|query|path)\./, '')}: ${message}`,
  )
  return [`${failureText(failure)}`, ...fields].join('; ')
}
