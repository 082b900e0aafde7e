import * as z from 'zod'
import { failureText } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { StateError } from '../../src/state/state-access.ts'
import { counted } from '../../src/text/labels.ts'
import { plainText } from '../../src/text/safe-text.ts'
import { accountArgumentText } from '../../src/tool/account-reader.ts'
import { countsOf } from '../../src/tool/bulk-result.ts'
import { betweenMarks } from '../../src/tool/results/transcript.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'
import {
  type CallState,
  callStateOf,
  callStates,
  callStateWords,
  followCalls,
  followMs,
  isGoingOn,
  isUnreached,
  type LastPoll,
  lastWordsOf,
  openingOf,
} from './follow-calls.ts'
import type { PlacingRun } from './placing-steps.ts'

const outcomeNames = [
  'placed',
  'repeated',
  'not_allowed',
  'failed',
  'unknown',
  'not_dialled',
] as const

/** One call of a batch: whether it was placed and, if followed, how it went. */
const BatchCall = z.object({
  to_number: z.string().optional().describe('Callee.'),
  outcome: z
    .enum(outcomeNames)
    .optional()
    .describe(
      'placed now; repeated: placed before, not dialled again; unknown: may be ringing; not_dialled: never tried.',
    ),
  state: z.enum(callStates).optional().describe('How it went, where it was followed.'),
  call_id: z.string().optional().describe('Call id.'),
  external_id: z.string().optional().describe('Its correlation id.'),
  status: z.string().optional(),
  answer_status: z.string().optional(),
  duration_seconds: z.number().optional(),
  opening: z.string().optional().describe('What the agent said first.'),
  last_words: z.string().optional().describe('UNTRUSTED: what the callee said last.'),
  problem: z.string().optional().describe('Why it was not placed or read, and what to do.'),
})
export type BatchCall = z.output<typeof BatchCall>

export type BatchOutcome = BatchCall & {
  readonly to_number: string
  readonly outcome: (typeof outcomeNames)[number]
}

/** The result of a batch. `calls` has each problem text once. */
export const batchShape = {
  batch_id: z.string().optional().describe('All these calls, for wait_for_call.'),
  calls: z
    .array(
      BatchCall.extend({
        problem_of: z
          .int()
          .optional()
          .describe('Same problem as the call at this position, from 1.'),
      }),
    )
    .optional()
    .describe('In the order given.'),
}

type PlacedBatchRun = Pick<
  Run & PlacingRun,
  'request' | 'session' | 'callOwner' | 'answerBy' | 'signal' | 'shutdown' | 'progress'
> & { readonly options: { readonly follow?: boolean | undefined } }

/** The result of place_calls: the outcome of each call and, with `follow`, how the call went. */
export async function placedBatchOutcome(
  outcomes: readonly BatchOutcome[],
  run: PlacedBatchRun,
): Promise<ToolOutcome> {
  const callIds = acceptedIds(outcomes)
  const batchId = await batchOf(callIds, run)
  const calls = run.options.follow ? await followedBatch(outcomes, callIds, run) : outcomes
  const isFollowed = calls.some(({ state }) => state !== undefined)
  const isWaitOver = isFollowed && !mustWait(calls)
  // An unknown outcome counts as not ended, because the call may be ringing.
  const ended = isWaitOver && calls.every(({ outcome }) => outcome !== 'unknown')
  const counts = countsOf(
    outcomeNames,
    calls.map(({ outcome }) => outcome),
  )
  const states = statesInWords(calls)
  const head = [
    `${counted(calls.length, 'call')}: ${counts.map(([name, count]) => `${count} ${name}`).join(', ')}.`,
    ...(states === '' ? [] : [`Of those: ${states}.`]),
    ...(isWaitOver || callIds.length === 0 ? [] : [nextOf(batchId, run)]),
  ]
  return {
    structured: {
      summary: Object.fromEntries(counts),
      ...(isFollowed && { ended }),
      ...(batchId !== undefined && { batch_id: batchId }),
      calls: withProblemsOnce(calls),
    },
    lines: [head.join(' '), ...batchLines(calls)],
  }
}

/** The distinct ids of accepted calls. */
const acceptedIds = (outcomes: readonly BatchOutcome[]): string[] => [
  ...new Set(
    outcomes.flatMap(({ outcome, call_id: id }) =>
      id !== undefined && (outcome === 'placed' || outcome === 'repeated') ? [id] : [],
    ),
  ),
]

/**
 * Stores the batch and returns its id; `undefined`: no call was accepted, or the state failed. The
 * calls are placed in either case.
 */
async function batchOf(
  callIds: readonly string[],
  { callOwner, session }: PlacedBatchRun,
): Promise<string | undefined> {
  if (callIds.length === 0) return undefined
  try {
    return await session.callServices.batches.save(callOwner, callIds)
  } catch (error) {
    if (error instanceof StateError) return undefined
    throw error
  }
}

/** Minimum time for following calls, ms. */
const minFollowMs = 1000

/** Follows the calls for the rest of the request's time. Does not follow an interrupted batch. */
async function followedBatch(
  outcomes: readonly BatchOutcome[],
  callIds: readonly string[],
  run: PlacedBatchRun,
): Promise<readonly BatchOutcome[]> {
  const forMs = Math.min(followMs, run.answerBy - performance.now())
  const isPartial = outcomes.some(({ outcome }) => outcome === 'not_dialled')
  if (isPartial || callIds.length === 0 || forMs < minFollowMs) return outcomes
  const account = accountIn(run.request)
  const progressBefore = outcomes.length
  const followed = await followCalls({ account, callIds, forMs, progressBefore }, run)
  return outcomes.map((one) => {
    const call = one.problem === undefined ? followed.get(one.call_id ?? '') : undefined
    return call ? { ...one, ...followedFields(call) } : one
  })
}

/** Names the next step: to follow the calls. */
function nextOf(batchId: string | undefined, run: PlacedBatchRun): string {
  const which = batchId === undefined ? 'each call_id' : `batch_id ${batchId}`
  return `Next: wait_for_call, ${which}${accountArgumentText(run)}, returns who answered.`
}

/** The fields that describe how a followed call went. */
export function followedFields(followed: LastPoll): Omit<BatchCall, 'to_number' | 'outcome'> {
  if ('error' in followed) return { state: 'unknown', problem: failureText(followed.error.failure) }
  const { call } = followed
  const opening = openingOf(call)
  const words = lastWordsOf(call)
  return {
    state: callStateOf(call),
    ...(typeof call.status === 'string' && { status: call.status }),
    ...(typeof call.answer_status === 'string' && { answer_status: call.answer_status }),
    ...(typeof call.duration_seconds === 'number' && { duration_seconds: call.duration_seconds }),
    ...(opening !== undefined && { opening }),
    ...(words !== undefined && { last_words: words }),
  }
}

/** Counts of calls by state, such as `1 answered by a person, 2 busy`. */
export const statesInWords = (calls: readonly BatchCall[]): string =>
  countsOf(
    callStates,
    calls.map(({ state }) => state),
  )
    .map(([state, count]) => `${count} ${callStateWords[state]}`)
    .join(', ')

/** True if a followed call is still running, or could not be read. */
export const mustWait = (calls: readonly BatchCall[]): boolean =>
  calls.some(({ state }) => state !== undefined && (isGoingOn(state) || state === 'unknown'))

/**
 * Replaces repeated problem texts with `problem_of`: calls of a batch often fail for the same
 * reason.
 */
export function withProblemsOnce(calls: readonly BatchCall[]) {
  const groups = Map.groupBy(calls, groupKey)
  return calls.map((call) => {
    const [first = call] = groups.get(groupKey(call)) ?? []
    if (first === call || call.problem === undefined) return call
    const { problem: _, ...rest } = call
    return { ...rest, problem_of: calls.indexOf(first) + 1 }
  })
}

/** Maximum size of a batch that is shown with all call ids. */
const maxInFull = 25

const idsNote =
  'The call_id of the others, and how each opened, is in structuredContent; list_calls has the ids too.'

/**
 * Lines of a batch: the calls by outcome, answered ones first, then the last words of each call.
 */
export function batchLines(calls: readonly BatchCall[]): string[] {
  const groups = [...Map.groupBy(calls, groupKey).values()].sort(
    ([one], [other]) => rankOf(one) - rankOf(other),
  )
  const isLong = calls.length > maxInFull
  const nameOf = namesIn(calls)
  const words = [
    ...(isLong ? [] : openingLines(calls, nameOf)),
    ...calls.flatMap((call) =>
      call.last_words === undefined ? [] : `${nameOf(call)} user: ${call.last_words}`,
    ),
  ]
  const inWords = (call: BatchCall) =>
    isLong && !isLookedUpNext(call) ? nameOf(call) : callText(call, nameOf(call))
  return [
    ...groups.map((group) => groupLine(group, inWords)),
    ...(isLong && calls.some(({ call_id: id }) => id) ? [idsNote] : []),
    ...(words.length > 0
      ? betweenMarks('What the agent said first, and the other side last.', words)
      : []),
    ...(calls.some(mayBeCalledAgain) ? [againNote] : []),
  ]
}

/**
 * True for a call that failed or reached nobody. Its id is shown even in a long list, because it is
 * probably looked up next.
 */
const isLookedUpNext = ({ state, outcome }: BatchCall) =>
  state === undefined ? outcome === 'failed' : isUnreached(state)

/** The first words of the agents. Equal texts appear once. */
const openingLines = (calls: readonly BatchCall[], nameOf: (call: BatchCall) => string) =>
  [...Map.groupBy(calls, ({ opening }) => opening)].flatMap(([opening, some]) =>
    opening === undefined ? [] : `${some.map(nameOf).join(', ')} agent: ${opening}`,
  )

/** A repeated request finds the call that was placed before: see `sameInBatchMs`. */
const againNote =
  'To call someone again, give the entry a new external_id; without one, the same call is not dialled again for five days.'

const mayBeCalledAgain = ({ state, outcome }: BatchCall) =>
  state === undefined ? outcome === 'repeated' : isUnreached(state)

/**
 * Key that is equal for calls with the same outcome and problem, apart from phone number and call
 * id.
 */
const groupKey = (call: BatchCall) =>
  JSON.stringify([call.state ?? call.outcome, generalProblem(call)])

function generalProblem({ to_number = '', call_id, problem }: BatchCall): string | undefined {
  const withoutNumber = to_number ? problem?.replaceAll(to_number, 'the number') : problem
  return call_id ? withoutNumber?.replaceAll(`call_id ${call_id}`, 'its call_id') : withoutNumber
}

/** Sort order: followed calls by state, then all others. */
const rankOf = (call: BatchCall | undefined) =>
  call?.state === undefined ? callStates.length : callStates.indexOf(call.state)

function groupLine(group: readonly BatchCall[], inWords: (call: BatchCall) => string): string {
  const [first] = group
  if (!first) return ''
  const problem = group.length > 1 ? generalProblem(first) : first.problem
  const head = first.state === undefined ? first.outcome : callStateWords[first.state]
  return `${head}: ${group.map(inWords).join(', ')}${problem === undefined ? '' : `: ${problem}`}`
}

/** A call as text: the phone number, and the call id to look it up. */
function callText(call: BatchCall, name: string): string {
  const { state, status, call_id, duration_seconds: seconds } = call
  // Nobody was reached, so the duration is ringing time.
  const isSilent = state === 'not_answered' || state === 'busy' || state === 'declined'
  const isUsual = status === undefined || (state && usualStatus[state]) === status
  const facts = [
    call_id !== undefined && call_id !== name && `call_id ${call_id}`,
    !isUsual && !isSilent && plainText(status),
    seconds !== undefined && !isSilent && `${seconds} s`,
  ].filter((fact) => fact !== false)
  return facts.length === 0 ? name : `${name} (${facts.join(', ')})`
}

const usualStatus: Readonly<Partial<Record<CallState, string>>> = {
  answered: 'completed',
  machine: 'completed',
  talking: 'in_progress',
  ringing: 'in_progress',
  failed: 'failed',
}

/**
 * Names calls by phone number. Several calls to one number also get their 1-based position, as in
 * `problem_of`.
 */
function namesIn(calls: readonly BatchCall[]): (call: BatchCall) => string {
  const byNumber = Map.groupBy(calls, numberOf)
  return (call) => {
    const number = numberOf(call)
    const isOnly = byNumber.get(number)?.length === 1
    return isOnly ? number : `${number} [call ${calls.indexOf(call) + 1}]`
  }
}

const numberOf = ({ to_number, call_id = '' }: BatchCall) => plainText(to_number ?? call_id)
