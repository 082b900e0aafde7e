import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { pause } from '../../api/time-limit.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import type { Journal } from '../../state/journal.ts'
import { inWords, notTaken } from './call-errors.ts'
import {
  askFor,
  bodyOf,
  type Callee,
  type CallPlan,
  callees,
  type KnownCall,
  knownCall,
  knownCalls,
  type ListRun,
  planOf,
  wordsOf,
} from './call-list-plan.ts'
import { type ListedCall, listed, shownCalls } from './call-list-result.ts'
import { dialRequest, place, speaker } from './place-call.ts'
import { forPlacing } from './placing-run.ts'

/** Time between two calls of a list, ms. */
const paceMs = 300

/** What has to be left of a request's time so that another call is begun, ms. */
const leastForOneMs = 14_000

const options = {
  calls: callees,
  ...confirmOption,
}

/** Arguments of a single call that a batch does not have. */
const without = Object.keys(routes.calls.place.body.shape).filter(
  (name) => !['agent_id', 'from_number', 'test_variables', 'overrides'].includes(name),
)

/** Places many calls one after the other, each exactly once and by its own leave. */
export const placeCallsSteps: Steps<typeof routes.calls.place, typeof options> = {
  options,
  hasTimeLimit: true,
  without,
  reportsProgress: true,
  schema: z.object({ ...listed, ...confirmationShape }),
  async run(given) {
    const { body, options } = given
    if (body.from_number === undefined) {
      throw badArguments([{ argument: 'from_number', message: 'required: a number of your own' }])
    }
    refuseDoubleIds(options.calls)
    const run = await forPlacing(given)
    const journal = await inWords(run, () => run.session.callServices.journal())
    const known = await knownCalls(run, journal)
    if (known.size === options.calls.length)
      return shownCalls([...known].map(([callee, call]) => knownItem(callee, call, run)))
    const agent = await speaker(run as Parameters<typeof speaker>[0])
    const plan = await planOf(run, agent, { journal, known })
    if (plan.open.length > 0) await askFor(plan, run, agent)
    return shownCalls(await dial(run, agent, { journal, plan }))
  },
}

function refuseDoubleIds(calls: readonly Callee[]): void {
  const seen = new Set<string>()
  const doubles = calls.flatMap(({ external_id: id }, at) => {
    if (id === undefined || !seen.has(id)) {
      if (id !== undefined) seen.add(id)
      return []
    }
    return [{ argument: `calls.${at}.external_id`, message: `${id} is given twice` }]
  })
  if (doubles.length > 0) throw badArguments(doubles)
}

async function dial(
  run: ListRun,
  agent: Agent,
  { journal, plan }: { journal: Journal; plan: CallPlan },
): Promise<ListedCall[]> {
  const { calls } = run.options
  const items: ListedCall[] = []
  for (const callee of calls) {
    const { to_number } = callee
    const problem = plan.refused.get(callee)
    // What was told as placed before stays so, however long ago that is by now.
    const call = plan.known.get(callee) ?? (await knownCall(run, journal, callee))
    if (call) items.push(knownItem(callee, call, run))
    else if (problem !== undefined) items.push({ to_number, outcome: 'not_allowed', problem })
    else if (run.signal?.aborted) items.push(notDialled(to_number, 'the request was cancelled'))
    else if (run.until - performance.now() < leastForOneMs) items.push(notDialled(to_number, goOn))
    else {
      const dialled = await one(run, agent, callee)
      items.push(dialled)
      if (dialled.outcome === 'not_allowed' || items.length === calls.length) continue
      const placed = items.filter((item) => item.outcome === 'placed').length
      run.progress(items.length, `${placed} placed, ${items.length} of ${calls.length} done`)
      await pause(paceMs, run.signal)
    }
  }
  return items
}

const goOn = 'time was up: call again with the same list; what was placed is not dialled again'

/** What was told of a call the first time stays so. */
function knownItem({ to_number }: Callee, call: KnownCall, run: ListRun): ListedCall {
  const { callId, externalId, isTaken } = call
  const ids = { call_id: callId, external_id: externalId }
  if (isTaken) return { to_number, outcome: 'repeated', ...ids }
  return { to_number, outcome: 'failed', ...ids, problem: wordsOf(notTaken({ id: callId }, run)) }
}

const notDialled = (to_number: string, problem: string): ListedCall => ({
  to_number,
  outcome: 'not_dialled',
  problem,
})

async function one(run: ListRun, agent: Agent, callee: Callee): Promise<ListedCall> {
  const { to_number } = callee
  const body = bodyOf(run, callee)
  const single = { ...run, body, request: { ...run.request, body } } as Parameters<typeof place>[0]
  try {
    const placement = await place(single, dialRequest(run, body, agent), { isInList: true })
    const { call, externalId, isRepeat, isTaken } = placement
    const ids = { call_id: call.id, external_id: externalId }
    if (isTaken) return { to_number, outcome: isRepeat ? 'repeated' : 'placed', ...ids }
    return { to_number, outcome: 'failed', ...ids, problem: wordsOf(notTaken(call, run)) }
  } catch (error) {
    if (error instanceof Refused) return refusedItem(to_number, error)
    if (error instanceof ApiError)
      return { to_number, outcome: 'failed', problem: failureOf(error) }
    throw error
  }
}

function refusedItem(to_number: string, error: Refused): ListedCall {
  const problem = wordsOf(error)
  if (error.kind === 'unknown_outcome') return { to_number, outcome: 'unknown', problem }
  return { to_number, outcome: error.kind === 'not_allowed' ? 'not_allowed' : 'failed', problem }
}

function failureOf({ failure }: ApiError): string {
  if (failure.kind !== 'rejected') return `${failure.kind}; nothing was dialled`
  const fields = failure.errors.map(({ field, message }) => `${field}: ${message}`)
  return [failure.message, ...fields].join(' ')
}
