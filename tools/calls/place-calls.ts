import * as z from 'zod'
import { journalEntryOf } from '../../src/calls/place-once.ts'
import type { Placement } from '../../src/calls/placement.ts'
import type { Agent } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import { numberToCall } from '../../src/contract/field.ts'
import type { RouteRequest } from '../../src/contract/route.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { pause } from '../../src/platform/time-limit.ts'
import { type JournalEntry, sameInBatchMs } from '../../src/state/call-journal.ts'
import { StateError } from '../../src/state/state-access.ts'
import { dialogText } from '../../src/text/dialog-text.ts'
import { isStopping } from '../../src/tool/bulk.ts'
import { confirmOption } from '../../src/tool/confirmation.ts'
import { confirmationShape } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { didYouMean } from '../../src/tool/references/did-you-mean.ts'
import { badArgument, badArguments, Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import { type BatchOutcome, batchShape, placedBatchOutcome } from './call-batch-result.ts'
import { batchQuestion, shownGreeting } from './call-question.ts'
import { notAcceptedRefusal, policyRefusal, refusalText } from './place-call-errors.ts'
import {
  callerNumber,
  checkDialPolicy,
  dialRequestOf,
  type PlacingRun,
  placePermitted,
  placingRun,
  readCallingAgent,
  refuseUnknownCallerNumber,
} from './placing-steps.ts'

/** Maximum number of calls in a batch. */
const maxCalls = 100

/** Pause between two calls of a batch, ms. */
const betweenCallsMs = 300

/** Remaining time needed to start another call, ms. */
const minTimePerCallMs = 14_000

/** One person to call. */
const Callee = z.object({
  to_number: numberToCall('Number to call.'),
  external_id: z.string().min(1).optional().describe('Your own id; a new one dials again.'),
  test_variables: z.record(z.string(), z.unknown()).optional().describe('Of this call.'),
})
type Callee = z.output<typeof Callee>

const options = {
  calls: z.array(Callee).min(1).max(maxCalls).describe('Whom to call, in order.'),
  follow: z.boolean().optional().describe('true: wait; return who answered, first and last words.'),
  ...confirmOption,
}

type BatchRun = Run<typeof routes.calls.place, typeof options> &
  PlacingRun & {
    /** The request with the account as the tool's caller named it. */
    readonly asGiven: RouteRequest
    /** Suggested fixes by argument, cached by the reason of the refusal. */
    readonly hints: Map<string, Promise<Record<string, string>>>
  }

/** Arguments of place_call that batches do not support. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'from_number', 'test_variables', 'overrides'].includes(name),
)

/** Places calls one after the other, each exactly once and each checked against the dial policy. */
export const placeCalls = defineTool({
  name: 'place_calls',
  title: 'Place many calls',
  description:
    'Calls up to 100 people, one after the other, with the same agent and from_number. Costs money and cannot be hung up from here. Each is dialled at most once, also if repeated; the result has each outcome.',
  route: routes.calls.place,
  view: 'call',
  options,
  accepts: callerNumber,
  hasTimeLimit: true,
  without,
  reportsProgress: true,
  // A batch is not a task, because a task stands for one call. wait_for_call with the batch_id
  // follows the batch.
  waits: { with: 'follow' },
  schema: z.object({
    summary: z.record(z.string(), z.int()).optional().describe('Count by outcome.'),
    ended: z.boolean().optional().describe('With follow: whether all have ended.'),
    ...batchShape,
    ...confirmationShape,
  }),
  async run(given) {
    const { options } = given
    const { body } = given.request
    if (body.from_number === undefined) {
      throw badArgument('from_number', 'required: a number of your own')
    }
    refuseUnknownCallerNumber(body.from_number)
    refuseRepeatedIds(options.calls)
    const placing = await placingRun(given)
    const asGiven = given.request
    const run: BatchRun = { ...placing, isInBatch: true, asGiven, hints: new Map() }
    const known = await findKnownCalls(run)
    if (known.size === options.calls.length) {
      const outcomes = [...known].map(([{ to_number }, call]) => outcomeOf(to_number, call, run))
      return placedBatchOutcome(outcomes, run)
    }
    const agent = await readCallingAgent(body.agent_id, run)
    const plan = await planBatch(run, agent, known)
    if (plan.open.length > 0) await confirmPlan(plan, run, agent)
    return placedBatchOutcome(await placeAll(run, agent, plan), run)
  },
})

function refuseRepeatedIds(calls: readonly Callee[]): void {
  const repeated = calls.flatMap(({ external_id: id }, at) =>
    id !== undefined && calls.findIndex(({ external_id }) => external_id === id) < at
      ? [{ argument: `calls.${at}.external_id`, message: `${id} is given twice` }]
      : [],
  )
  if (repeated.length > 0) throw badArguments(repeated)
}

/** The decision about each call of a batch, made before any call is placed. */
interface BatchPlan {
  /** Calls that were placed before. They are never dialled again. */
  readonly known: ReadonlyMap<Callee, Placement>
  /** Calls with an unknown outcome: an earlier request may have sent them. */
  readonly maybeSent: ReadonlySet<Callee>
  /** Calls that the dial policy refuses, with the reason. */
  readonly refused: ReadonlyMap<Callee, string>
  /** All other calls, in order. The person confirms exactly these. */
  readonly open: readonly Callee[]
}

/** Request body of one call of the batch. */
const bodyFor = (
  { to_number, external_id, test_variables }: Callee,
  { request: { body } }: BatchRun,
): CallCreate => ({
  ...body,
  type: 'phone',
  to_number,
  ...(external_id !== undefined && { external_id }),
  ...(test_variables && { test_variables: { ...body.test_variables, ...test_variables } }),
})

function journalEntryFor(callee: Callee, run: BatchRun): Promise<JournalEntry | undefined> {
  const { session, callOwner } = run
  const { journal } = session.callServices
  const request = { ...run.request, body: bodyFor(callee, run) }
  return journalEntryOf({ request, journal, callOwner, sameForMs: sameInBatchMs })
}

/**
 * The call of a journal entry, if it was placed before. Sends no request, so that a repeated long
 * batch soon reaches the call where it stopped.
 */
function knownCall(entry: JournalEntry | undefined): Placement | undefined {
  if (!entry || entry.callId === null) return undefined
  const { callId, externalId, state } = entry
  return { call: { id: callId }, externalId, isRepeat: true, isAccepted: state !== 'not_taken' }
}

/** All calls of the batch that were placed before. */
async function findKnownCalls(run: BatchRun): Promise<BatchPlan['known']> {
  const known = new Map<Callee, Placement>()
  for (const callee of run.options.calls) {
    const call = knownCall(await journalEntryFor(callee, run))
    if (call) known.set(callee, call)
  }
  return known
}

/**
 * Plans the calls that are not known yet. A call that may have been sent is never reported as
 * refused.
 */
async function planBatch(
  run: BatchRun,
  agent: Agent,
  known: BatchPlan['known'],
): Promise<BatchPlan> {
  const others = run.options.calls.filter((callee) => !known.has(callee))
  const refused = new Map<Callee, string>()
  const maybeSent = new Set<Callee>()
  for (const callee of others) {
    const entry = await journalEntryFor(callee, run)
    if (entry?.state === 'sending') maybeSent.add(callee)
    if (entry) continue
    const decision = await checkDialPolicy(dialRequestOf(bodyFor(callee, run), agent), run)
    if (!decision.allowed) refused.set(callee, refusalText(policyRefusal(decision, run)))
  }
  return { known, refused, maybeSent, open: others.filter((callee) => !refused.has(callee)) }
}

/** Asks the person to confirm the open calls of the plan. */
async function confirmPlan(
  { known, refused, open }: BatchPlan,
  run: BatchRun,
  agent: Agent,
): Promise<void> {
  const placed = [...known.values()].filter(({ isAccepted }) => isAccepted).length
  const notAccepted = known.size - placed
  const listed = run.options.calls.flatMap((callee, at) =>
    open.includes(callee) ? [{ at, body: bodyFor(callee, run) }] : [],
  )
  const otherCalls = {
    ...(placed > 0 && { 'Placed before': dialogText`${placed} more, which are not dialled again` }),
    ...(notAccepted > 0 && {
      'Not accepted before': dialogText`${notAccepted} more, which are not dialled again`,
    }),
    ...(refused.size > 0 && {
      'Not allowed': dialogText`${refused.size} more, which are not dialled`,
    }),
  }
  await run.confirm(async () => ({
    ...(await batchQuestion(run, { listed, agent, otherCalls })),
    // The confirmation covers only these calls, even if the policy later allows others.
    scope: { calls: listed.map(({ at }) => at), ...shownGreeting(agent) },
  }))
}

async function placeAll(run: BatchRun, agent: Agent, plan: BatchPlan): Promise<BatchOutcome[]> {
  const { calls } = run.options
  const outcomes: BatchOutcome[] = []
  /** Set when the state store fails. From then on nothing is dialled. */
  let stateProblem: string | undefined
  for (const callee of calls) {
    // After the first outcome a failure must not throw: the result reports what was dialled before.
    const stateFailed = (error: unknown) => {
      if (!(error instanceof StateError) || outcomes.length === 0) throw error
      stateProblem = refusalText(run.stateRefusal(error))
      return notReached(callee, stateProblem, plan.maybeSent.has(callee))
    }
    const settled = await outcomeWithoutPlacing(callee, run, plan, stateProblem).catch(stateFailed)
    const outcome = settled ?? (await placeOne(callee, run, agent).catch(stateFailed))
    outcomes.push(outcome)
    if (settled || outcome.outcome === 'not_allowed' || outcomes.length === calls.length) continue
    const placed = outcomes.filter((one) => one.outcome === 'placed').length
    run.progress(outcomes.length, `${placed} placed, ${outcomes.length} of ${calls.length} done`)
    await pause(betweenCallsMs, run.signal)
  }
  return outcomes
}

/** The outcome of a call that must not be placed now; `undefined`: place it. */
async function outcomeWithoutPlacing(
  callee: Callee,
  run: BatchRun,
  plan: BatchPlan,
  stateProblem: string | undefined,
): Promise<BatchOutcome | undefined> {
  const { to_number } = callee
  // A call that was known at the start stays known, even if the journal has dropped its entry.
  const planned = plan.known.get(callee)
  if (!planned && stateProblem !== undefined)
    return notReached(callee, stateProblem, plan.maybeSent.has(callee))
  const entry = planned ? undefined : await journalEntryFor(callee, run)
  const known = planned ?? knownCall(entry)
  if (known) return outcomeOf(to_number, known, run)
  const problem = plan.refused.get(callee)
  if (problem !== undefined) return { to_number, outcome: 'not_allowed', problem }
  const isOpen = entry?.state === 'sending'
  if (run.signal?.aborted) return notReached(callee, 'the request was cancelled', isOpen)
  if (run.shutdown?.aborted) return notReached(callee, isStopping, isOpen)
  const isLate = run.answerBy - performance.now() < minTimePerCallMs
  return isLate ? notReached(callee, timeIsUp, isOpen) : undefined
}

const timeIsUp = 'time was up: call again with the same list; what was placed is not dialled again'

/**
 * The outcome of a call that the batch did not reach. If an earlier request may have sent the call,
 * it may be ringing.
 */
function notReached({ to_number }: Callee, problem: string, maybeSent: boolean): BatchOutcome {
  if (!maybeSent) return { to_number, outcome: 'not_dialled', problem }
  const sent = 'an earlier request sent it, and it is NOT KNOWN whether it was placed'
  return { to_number, outcome: 'unknown', problem: `${sent}; nothing was sent now: ${problem}` }
}

async function placeOne(callee: Callee, run: BatchRun, agent: Agent): Promise<BatchOutcome> {
  const { to_number } = callee
  const body = bodyFor(callee, run)
  const single = { ...run, request: { ...run.request, body } }
  try {
    const dial = dialRequestOf(body, agent)
    const placement = await placePermitted(single, dial)
    return outcomeOf(to_number, placement, run)
  } catch (error) {
    if (error instanceof Refused) {
      const { kind } = error
      const outcome =
        kind === 'not_allowed' ? kind : kind === 'unknown_outcome' ? 'unknown' : 'failed'
      return { to_number, outcome, problem: refusalText(error) }
    }
    if (error instanceof ApiError)
      return { to_number, outcome: 'failed', problem: await platformProblem(error, run) }
    throw error
  }
}

/** Outcome of a call that the platform has recorded. */
function outcomeOf(
  to_number: string,
  { call, externalId, isRepeat, isAccepted }: Placement,
  run: BatchRun,
): BatchOutcome {
  const ids = { call_id: call.id, external_id: externalId }
  if (isAccepted) return { to_number, outcome: isRepeat ? 'repeated' : 'placed', ...ids }
  const problem = refusalText(notAcceptedRefusal(call, run))
  return { to_number, outcome: 'failed', ...ids, problem }
}

/**
 * The reason why the platform refused a call, with suggested fixes. They are looked up once per
 * reason.
 */
async function platformProblem(error: ApiError, run: BatchRun): Promise<string> {
  const { failure } = error
  if (failure.kind !== 'rejected') return `${failureText(failure)}; nothing was dialled`
  const fields = failure.errors.map(({ field, message }) => `${field}: ${message}`)
  const why = [failure.message, ...fields].join(' ')
  const hints = run.hints.get(why) ?? didYouMean(error, run.asGiven, run.restricted)
  run.hints.set(why, hints)
  return [why, ...Object.values(await hints)].join(' ')
}
