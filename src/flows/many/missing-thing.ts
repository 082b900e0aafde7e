import { ApiError } from '../../api/failure.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { hintFor, noSuch } from '../../mcp/hints/did-you-mean.ts'
import { isNotFound } from '../../mcp/hints/missing-references.ts'
import type { NamingArgument } from '../../mcp/hints/named-things.ts'
import type { Outcome } from './for-each.ts'

/** The outcome of a thing that does not exist says so, with what may be meant. */
export async function withMissingHint<T>(
  outcome: Outcome<T>,
  { argument, given }: { readonly argument: NamingArgument; readonly given: string },
  { request, restricted }: Pick<Run, 'request' | 'restricted'>,
): Promise<Outcome<T>> {
  if (outcome.state !== 'failed' || !(outcome.error instanceof ApiError)) return outcome
  // Where the thing was read, a change of it fails because of something that the change names.
  if (!isNotFound(outcome.error) || outcome.error.method !== 'GET') return outcome
  const hint = await hintFor(argument, given, request, restricted)
  const problem = [noSuch(argument, given, restricted), hint].filter(Boolean).join(' ')
  return { ...outcome, problem }
}
