import type { Failure } from './failure.ts'

/** Longest message of the platform that is repeated in another's sentence, in characters. */
const longestSaid = 500

/** A failure in a few words: for what has no tool, and so no advice of its own. */
export function saidBy(failure: Failure): string {
  switch (failure.kind) {
    case 'rejected':
      return `${failure.status} ${failure.code}: ${failure.message.slice(0, longestSaid)}`
    case 'unreadable':
      return `HTTP ${failure.status}, ${failure.reason}`
    case 'bad_parameter':
      return `"${failure.value}" is not an id`
    case 'network':
      return `network, ${failure.code}`
    case 'not_exposed':
      return 'no tool that is exposed here reads it'
    default:
      return failure.kind
  }
}
