import { firstCharacters } from '../text/first-characters.ts'
import type { Failure } from './failure.ts'

/** Longest part of a message of the platform that is repeated, in characters. */
const longestMessage = 500

/**
 * A failure in a few words, to stand in a sentence. The only short form: where a tool itself has
 * failed, src/mcp/call/advice.ts says at length what to do.
 */
export function failureText(failure: Failure): string {
  switch (failure.kind) {
    case 'rejected':
      return `the platform answered HTTP ${failure.status} ${failure.code}: ${firstCharacters(failure.message, longestMessage)}`
    case 'unreadable':
      return `the platform answered HTTP ${failure.status} with an unusable reply (${failure.reason})`
    case 'redirected':
      return `the platform answered HTTP ${failure.status}, a redirect, which is not followed`
    case 'network':
      return `the connection to the platform failed, ${failure.code}`
    case 'timeout':
      return 'the platform did not answer in time'
    case 'cancelled':
      return 'the request was cancelled'
    case 'bad_parameter':
      return `"${failure.value}" is not an id`
    case 'not_exposed':
      return 'no exposed tool reads it'
    case 'not_recorded':
      return `it cannot be recorded (${failure.reason}), so nothing was sent`
  }
}
