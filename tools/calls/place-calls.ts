import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { pause } from '../../src/platform/time-limit.ts'
import { StateError } from '../../src/state/state-access.ts'
import { counted } from '../../src/text/dialog-text.ts'
import { accountArgumentText } from '../../src/tool/account.ts'
import { confirmOption } from '../../src/tool/confirmation.ts'
import { confirmationShape } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { badArguments, Refused } from '../../src/tool/refused.ts'
import type { ToolOutcome } from '../../src/tool/tool.ts'
import {
  bodyFor,
  type CallListPlan,
  type CallListRun,
  callees,
  confirmPlan,
  findKnownCalls,
  journalEntryFor,
  type KnownCall,
  knownCall,
  type ListedCallee,
  planCallList,
} from './call-list-plan.ts'
import {
  callListLines,
  callListShape,
  followedFields,
  type ListedCallOutcome,
  mustWait,
  outcomeCounts,
  statesInWords,
  withProblemsOnce,
} from './call-list-result.ts'
import { notAcceptedRefusal, refusalText } from './call-refusals.ts'
import { followCalls, followMs } from './following.ts'
import {
  callerNumber,
  dialRequestOf,
  placePermitted,
  placingRun,
  readSpeaker,
  refuseNoNumber,
} from './placing.ts'

/** Time between two calls of a list, ms. */
const betweenCallsMs = 300

/** Time that must be left of a request to begin another call, ms. */
const minTimePerCallMs = 14_000

/** Arguments of a single call that a list does not have. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'from_number', 'test_variables', 'overrides'].includes(name),
)

/** Places many calls one after the other, each exactly once and each checked against the dial policy. */
export const placeCalls = defineTool({
  name: 'place_calls',
  title: 'Place many calls',
  description:
    'Rings up to 100 people one after the other with the same agent and from_number, and costs money. They cannot be hung up from here. Each is dialled at most once, also when repeated; the result tells each outcome.',
  route: routes.calls.place,
  view: 'call',
  options: {
    calls: callees,
    follow: z.boolean().optional().describe('true: wait, and tell who answered.'),
    ...confirmOption,
  },
  accepts: callerNumber,
  hasTimeLimit: true,
  without,
  reportsProgress: true,
  // No task: one stands for one call. wait_for_call with the batch_id follows the list further.
  waits: { with: 'follow' },
  schema: z.object({
    summary: z.record(z.string(), z.int()).optional().describe('How many came to what.'),
    ended: z.boolean().optional().describe('With follow: whether all have ended.'),
    ...callListShape,
    ...confirmationShape,
  }),
  async run(given) {
    const { body, options } = given
    if (body.from_number === undefined) {
      throw badArguments([{ argument: 'from_number', message: 'required: a number of your own' }])
    }
    refuseNoNumber(body.from_number)
    refuseRepeatedIds(options.calls)
    const placing = await placingRun(given)
    const run = { ...placing, journal: await placing.session.callServices.journal() }
    const known = await findKnownCalls(run)
    if (known.size === options.calls.length) {
      const outcomes = [...known].map(([callee, call]) => knownOutcome(callee, call, run))
      return placedListOutcome(outcomes, run)
    }
    const agent = await readSpeaker(body.agent_id, run)
    const plan = await planCallList(run, agent, known)
    if (plan.open.length > 0) await confirmPlan(plan, run, agent)
    return placedListOutcome(await placeAll(run, agent, plan), run)
  },
})

function refuseRepeatedIds(calls: readonly ListedCallee[]): void {
  const seen = new Set<string>()
  const repeated = calls.flatMap(({ external_id: id }, at) => {
    if (id === undefined) return []
    if (seen.has(id))
      return [{ argument: `calls.${at}.external_id`, message: `${id} is given twice` }]
    seen.add(id)
    return []
  })
  if (repeated.length > 0) throw badArguments(repeated)
}

async function placeAll(
  run: CallListRun,
  agent: Agent,
  plan: CallListPlan,
): Promise<ListedCallOutcome[]> {
  const { calls } = run.options
  const outcomes: ListedCallOutcome[] = []
  /** Set once the state could not be used: nothing more is dialled. */
  let stateProblem: string | undefined
  for (const callee of calls) {
    // What was dialled is told in any case.
    const stateFailed = (error: unknown) => {
      if (!(error instanceof StateError) || outcomes.length === 0) throw error
      stateProblem = refusalText(run.stateRefusal(error))
      return notReached(callee, stateProblem, plan.maybeSent.has(callee))
    }
    const settled = await outcomeWithoutPlacing(callee, run, plan, stateProblem).catch(stateFailed)
    const outcome = settled ?? (await placeListed(callee, run, agent).catch(stateFailed))
    outcomes.push(outcome)
    if (settled || outcome.outcome === 'not_allowed' || outcomes.length === calls.length) continue
    const placed = outcomes.filter((one) => one.outcome === 'placed').length
    run.progress(outcomes.length, `${placed} placed, ${outcomes.length} of ${calls.length} done`)
    await pause(betweenCallsMs, run.signal)
  }
  return outcomes
}

/** The outcome of a call that is not to be placed now; `undefined`: it is to be placed. */
async function outcomeWithoutPlacing(
  callee: ListedCallee,
  run: CallListRun,
  plan: CallListPlan,
  stateProblem: string | undefined,
): Promise<ListedCallOutcome | undefined> {
  const { to_number } = callee
  // A call that was known when the list began stays so, even if the journal forgets it meanwhile.
  const planned = plan.known.get(callee)
  if (!planned && stateProblem !== undefined)
    return notReached(callee, stateProblem, plan.maybeSent.has(callee))
  const entry = planned ? undefined : await journalEntryFor(callee, run)
  const known = planned ?? knownCall(entry)
  if (known) return knownOutcome(callee, known, run)
  const problem = plan.refused.get(callee)
  if (problem !== undefined) return { to_number, outcome: 'not_allowed', problem }
  const isOpen = entry?.state === 'sending'
  if (run.signal?.aborted) return notReached(callee, 'the request was cancelled', isOpen)
  const isLate = run.answerBy - performance.now() < minTimePerCallMs
  return isLate ? notReached(callee, timeIsUp, isOpen) : undefined
}

const timeIsUp = 'time was up: call again with the same list; what was placed is not dialled again'

/** A known call has the outcome that was reported the first time. */
function knownOutcome(
  { to_number }: ListedCallee,
  { callId, externalId, isAccepted }: KnownCall,
  run: CallListRun,
): ListedCallOutcome {
  const ids = { call_id: callId, external_id: externalId }
  if (isAccepted) return { to_number, outcome: 'repeated', ...ids }
  const problem = refusalText(notAcceptedRefusal({ id: callId }, run))
  return { to_number, outcome: 'failed', ...ids, problem }
}

/** The turn of a call does not come. One that an earlier request may have sent may be ringing. */
function notReached(
  { to_number }: ListedCallee,
  problem: string,
  maybeSent: boolean,
): ListedCallOutcome {
  if (!maybeSent) return { to_number, outcome: 'not_dialled', problem }
  const sent = 'an earlier request sent it, and it is NOT KNOWN whether it was placed'
  return { to_number, outcome: 'unknown', problem: `${sent}; nothing was sent now: ${problem}` }
}

async function placeListed(
  callee: ListedCallee,
  run: CallListRun,
  agent: Agent,
): Promise<ListedCallOutcome> {
  const { to_number } = callee
  const body = bodyFor(callee, run)
  const single = { ...run, request: { ...run.request, body } }
  try {
    const dial = dialRequestOf(run, body, agent)
    const { call, externalId, isRepeat, isAccepted } = await placePermitted(single, dial, {
      isInList: true,
    })
    const ids = { call_id: call.id, external_id: externalId }
    if (isAccepted) return { to_number, outcome: isRepeat ? 'repeated' : 'placed', ...ids }
    return {
      to_number,
      outcome: 'failed',
      ...ids,
      problem: refusalText(notAcceptedRefusal(call, run)),
    }
  } catch (error) {
    if (error instanceof Refused) return refusedOutcome(to_number, error)
    if (error instanceof ApiError)
      return { to_number, outcome: 'failed', problem: platformProblem(error) }
    throw error
  }
}

function refusedOutcome(to_number: string, error: Refused): ListedCallOutcome {
  const problem = refusalText(error)
  if (error.kind === 'unknown_outcome') return { to_number, outcome: 'unknown', problem }
  return { to_number, outcome: error.kind === 'not_allowed' ? 'not_allowed' : 'failed', problem }
}

function platformProblem({ failure }: ApiError): string {
  if (failure.kind !== 'rejected') return `${failureText(failure)}; nothing was dialled`
  const fields = failure.errors.map(({ field, message }) => `${field}: ${message}`)
  return [failure.message, ...fields].join(' ')
}

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
    return await session.callServices.batches.save(callOwner, callIds)
  } catch (error) {
    if (error instanceof StateError) return undefined
    throw error
  }
}

/** Less time does not suffice to learn anything, ms. */
const minFollowMs = 1000

/** Follows the calls for the rest of the time. A list that was not dialled to its end comes first. */
async function followedList(
  outcomes: readonly ListedCallOutcome[],
  callIds: readonly string[],
  run: PlacedListRun,
): Promise<readonly ListedCallOutcome[]> {
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
