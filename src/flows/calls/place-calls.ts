import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { pause } from '../../api/time-limit.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import type { Journal } from '../../state/journal.ts'
import { notAcceptedRefusal, refusalText, withCallErrorsRefused } from './call-errors.ts'
import {
  bodyFor,
  type CallListPlan,
  type CallListRun,
  callees,
  confirmPlan,
  findKnownCall,
  findKnownCalls,
  type KnownCall,
  type ListedCallee,
  planCallList,
} from './call-list-plan.ts'
import type { ListedCallOutcome } from './call-list-result.ts'
import { callerNumber, refuseNoNumber } from './caller-number.ts'
import { dialRequestOf } from './dial-policy-check.ts'
import { placePermitted, readSpeaker } from './place-permitted.ts'
import { placedListOutcome, placedListSchema } from './placed-list-result.ts'
import { placingRun } from './placing-run.ts'

/** Time between two calls of a list, ms. */
const betweenCallsMs = 300

/** Time that must be left of a request to begin another call, ms. */
const leastForOneMs = 14_000

const options = {
  calls: callees,
  follow: z.boolean().optional().describe('true: wait, and tell who answered.'),
  ...confirmOption,
}

/** Arguments of a single call that a list does not have. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'from_number', 'test_variables', 'overrides'].includes(name),
)

/** Places many calls one after the other, each exactly once and each checked against the dial policy. */
export const placeCallsSteps: Steps<typeof routes.calls.place, typeof options> = {
  options,
  accepts: callerNumber,
  hasTimeLimit: true,
  without,
  reportsProgress: true,
  // No task: one stands for one call. wait_for_call with the batch_id follows the list further.
  waits: { with: 'follow' },
  schema: placedListSchema,
  async run(given) {
    const { body, options } = given
    if (body.from_number === undefined) {
      throw badArguments([{ argument: 'from_number', message: 'required: a number of your own' }])
    }
    refuseNoNumber(body.from_number)
    refuseRepeatedIds(options.calls)
    const run = await placingRun(given)
    const journal = await withCallErrorsRefused(run, () => run.session.callServices.journal())
    const known = await findKnownCalls(run, journal)
    if (known.size === options.calls.length) {
      const outcomes = [...known].map(([callee, call]) => knownOutcome(callee, call, run))
      return placedListOutcome(outcomes, run)
    }
    const agent = await readSpeaker(body.agent_id, run)
    const plan = await planCallList(run, agent, { journal, known })
    if (plan.open.length > 0) await confirmPlan(plan, run, agent)
    return placedListOutcome(await placeAll(run, agent, { journal, plan }), run)
  },
}

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

interface ListInProgress {
  readonly journal: Journal
  readonly plan: CallListPlan
}

async function placeAll(
  run: CallListRun,
  agent: Agent,
  list: ListInProgress,
): Promise<ListedCallOutcome[]> {
  const { calls } = run.options
  const outcomes: ListedCallOutcome[] = []
  for (const callee of calls) {
    const settled = await outcomeWithoutPlacing(callee, run, list)
    const outcome = settled ?? (await placeListed(callee, run, agent))
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
  { journal, plan }: ListInProgress,
): Promise<ListedCallOutcome | undefined> {
  const { to_number } = callee
  // A call that was known when the list began stays so, even if the journal forgets it meanwhile.
  const known = plan.known.get(callee) ?? (await findKnownCall(callee, run, journal))
  if (known) return knownOutcome(callee, known, run)
  const problem = plan.refused.get(callee)
  if (problem !== undefined) return { to_number, outcome: 'not_allowed', problem }
  if (run.signal?.aborted) return notDialled(to_number, 'the request was cancelled')
  const isLate = run.answerBy - performance.now() < leastForOneMs
  return isLate ? notDialled(to_number, timeIsUp) : undefined
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

const notDialled = (to_number: string, problem: string): ListedCallOutcome => ({
  to_number,
  outcome: 'not_dialled',
  problem,
})

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
