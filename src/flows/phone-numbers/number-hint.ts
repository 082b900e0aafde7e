import { ApiError } from '../../api/failure.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { hintFor } from '../../mcp/hints/did-you-mean.ts'
import { isNotFound } from '../../mcp/hints/missing-references.ts'
import type { Outcome } from '../many/for-each.ts'

/** The outcome of a number that does not exist says so, with what may be meant. */
export async function withNumberHint<T>(
  outcome: Outcome<T>,
  given: string,
  { request, restricted }: Pick<Run, 'request' | 'restricted'>,
): Promise<Outcome<T>> {
  if (outcome.state !== 'failed' || !(outcome.error instanceof ApiError)) return outcome
  // Where the number was found, it is the trunk or the agent that is missing.
  if (!isNotFound(outcome.error) || outcome.error.method !== 'GET') return outcome
  const hint = await hintFor('phone_number_id', given, request, restricted)
  const problem = [`There is no phone number ${given}.`, hint].filter(Boolean).join(' ')
  return { ...outcome, problem }
}
