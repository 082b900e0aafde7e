import * as z from 'zod'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import type { ToolOutcome } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { StateError } from '../../state/state-error.ts'
import { counted } from '../../text/counted.ts'
import { accountArgumentText } from '../account-in-words.ts'
import type { CallListRun } from './call-list-plan.ts'
import {
  callListLines,
  callListShape,
  followedFields,
  goOn,
  type ListedCallOutcome,
  outcomeCounts,
  statesInWords,
  withProblemsOnce,
} from './call-list-result.ts'
import { followCalls } from './follow-calls.ts'
import { followPlacedMs } from './wait-for-call.ts'

export const placedListSchema = z.object({
  summary: z.record(z.string(), z.int()).optional().describe('How many came to what.'),
  ended: z.boolean().optional().describe('With follow: whether all have ended.'),
  ...callListShape,
  ...confirmationShape,
})

/** What the result of a list needs of a run. */
type PlacedListRun = Pick<
  CallListRun,
  'request' | 'session' | 'callOwner' | 'answerBy' | 'signal' | 'shutdown' | 'progress'
> & { readonly options: { readonly follow?: boolean | undefined } }

/** The result of place_calls: what came of each call and, with `follow`, how it went. */
export async function placedListOutcome(
  outcomes: readonly ListedCallOutcome[],
  run: PlacedListRun,
): Promise<ToolOutcome> {
  const callIds = acceptedIds(outcomes)
  const batchId = await batchOf(callIds, run)
  const calls = run.options.follow ? await followedList(outcomes, callIds, run) : outcomes
  const isFollowed = calls.some(({ state }) => state !== undefined)
  const isWaitOver = isFollowed && !mustWait(calls)
  // A call of which it is not known whether it was placed may be ringing.
  const ended = isWaitOver && calls.every(({ outcome }) => outcome !== 'unknown')
  const summary = outcomeCounts(calls)
  return {
    structured: {
      summary,
      ...(isFollowed && { ended }),
      ...(batchId !== undefined && { batch_id: batchId }),
      calls: withProblemsOnce(calls),
    },
    lines: [
      [headOf(calls), ...(isWaitOver ? [] : nextOf(callIds, batchId, run))].join(' '),
      ...callListLines(calls),
    ],
  }
}

/** The calls that ring or have rung, each once. */
const acceptedIds = (outcomes: readonly ListedCallOutcome[]): string[] => [
  ...new Set(
    outcomes.flatMap(({ outcome, call_id: id }) =>
      id !== undefined && (outcome === 'placed' || outcome === 'repeated') ? [id] : [],
    ),
  ),
]

/** `undefined`: there are no calls, or it cannot be kept; the calls were placed all the same. */
async function batchOf(
  callIds: readonly string[],
  { callOwner, session }: PlacedListRun,
): Promise<string | undefined> {
  if (callIds.length === 0) return undefined
  try {
    return await session.callServices.batches.save(callOwner.owner, callIds)
  } catch (error) {
    if (error instanceof StateError) return undefined
    throw error
  }
}

/** Less time does not suffice to learn anything, ms. */
const leastToFollowMs = 1000

/** Follows the calls for the rest of the time. A list that was not dialled to its end comes first. */
async function followedList(
  outcomes: readonly ListedCallOutcome[],
  callIds: readonly string[],
  run: PlacedListRun,
): Promise<readonly ListedCallOutcome[]> {
  const forMs = Math.min(followPlacedMs, run.answerBy - performance.now())
  const isPartial = outcomes.some(({ outcome }) => outcome === 'not_dialled')
  if (isPartial || callIds.length === 0 || forMs < leastToFollowMs) return outcomes
  const account = accountIn(run.request)
  const progressBefore = outcomes.length
  const followed = await followCalls({ account, callIds, forMs, progressBefore }, run)
  return outcomes.map((one) => {
    const call = one.problem === undefined ? followed.get(one.call_id ?? '') : undefined
    return call ? { ...one, ...followedFields(call) } : one
  })
}

const mustWait = (calls: readonly ListedCallOutcome[]) =>
  goOn(calls) || calls.some(({ state }) => state === 'unknown')

function headOf(calls: readonly ListedCallOutcome[]): string {
  const counts = Object.entries(outcomeCounts(calls)).map(([name, count]) => `${count} ${name}`)
  const states = statesInWords(calls)
  return `${counted(calls.length, 'call')}: ${counts.join(', ')}.${states === '' ? '' : ` Of those: ${states}.`}`
}

/** How to learn the rest. */
function nextOf(
  callIds: readonly string[],
  batchId: string | undefined,
  run: PlacedListRun,
): string[] {
  if (callIds.length === 0) return []
  const which = batchId === undefined ? 'each call_id' : `batch_id ${batchId}`
  return [`Next: wait_for_call, ${which}${accountArgumentText(run)}, tells who answered.`]
}
