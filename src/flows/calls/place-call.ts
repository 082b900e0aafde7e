import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import { isNotPlaced } from '../../calls/not-placed.ts'
import { placedBefore, placeOnce } from '../../calls/place-once.ts'
import type { Permit, Placement } from '../../calls/placement.ts'
import type { Agent } from '../../contract/agent.ts'
import { type CallCreate, PlacedCall } from '../../contract/call.ts'
import { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Run, Steps } from '../../mcp/call/tool.ts'
import type { DialRefused, DialRequest } from '../../policy/dial-decision.ts'
import { accountIn } from '../../session/account.ts'
import { sameInListMs } from '../../state/journal.ts'
import { inWords } from './call-errors.ts'
import { callQuestion } from './call-question.ts'
import { allowed, asked, callsAtOnce } from './dial-policy-check.ts'
import { placedCall } from './placed-call-result.ts'
import { forPlacing, type Placing } from './placing-run.ts'

const options = {
  follow: z.boolean().optional().describe('true: answer when the call has ended.'),
  ...confirmOption,
}

type PlaceRun = Run<typeof routes.calls.place, typeof confirmOption> & Placing

/** Places one call, exactly once: checked, allowed, confirmed, then sent. */
export const placeCallSteps: Steps<typeof routes.calls.place, typeof options> = {
  options,
  hasTimeLimit: true,
  schema: PlacedCall.partial().extend({
    ...confirmationShape,
    repeated: z
      .boolean()
      .optional()
      .describe('True: it had been placed before; not dialled again.'),
  }),
  async run(given) {
    const { body } = given
    refuseMixedUp(body)
    const run = await forPlacing(given)
    const known = await repeated(run)
    if (known) return placedCall(run, known)
    const agent = await speaker(run)
    const dialled = dialRequest(run, body, agent)
    await refuseForbidden(dialled, run)
    const agreement = await run.confirm(await callQuestion(run, body, agent))
    const placement = await place(run, dialled).catch(async (error: unknown) => {
      if (isNothingDone(error)) await agreement.giveBack()
      throw error
    })
    return placedCall(run, placement)
  },
}

/** Refused for the moment, by the platform or the operator: agreement to it need not be asked anew. */
const isNothingDone = (error: unknown) =>
  error instanceof ApiError
    ? isNotPlaced(error.failure)
    : error instanceof Refused && error.kind === 'not_allowed'

/** A phone call has two numbers, a web call none: anything else is a mistake about who is called. */
function refuseMixedUp(body: CallCreate): void {
  const numbers = ['from_number', 'to_number'] as const
  const wrong = numbers.filter((name) => (body[name] === undefined) === (body.type === 'phone'))
  if (wrong.length === 0) return
  throw badArguments(
    wrong.map((argument) => ({
      argument,
      message:
        body.type === 'phone'
          ? 'required for type phone'
          : 'a web call dials nobody; for a telephone call use type phone',
    })),
  )
}

/** The agent that is to speak: it exists and is not archived. */
export async function speaker(run: PlaceRun): Promise<Agent> {
  const { request, body, session } = run
  const account_id = accountIn(request)
  const asked = { params: { account_id, agent_id: body.agent_id }, query: {} }
  const agent = await withTimeLimit(run.until - performance.now(), run.signal, (signal) =>
    session.client.call(routes.agents.get, asked, signal),
  )
  if (!agent.is_archived) return agent
  throw badArguments([
    { argument: 'agent_id', message: `${agent.name ?? agent.id} is archived; take another agent` },
  ])
}

export const dialRequest = (
  { request }: Pick<PlaceRun, 'request'>,
  body: Pick<CallCreate, 'type' | 'from_number' | 'to_number'>,
  agent: Agent,
): DialRequest => ({
  accountId: accountIn(request),
  agentId: agent.id,
  agentName: agent.name ?? null,
  type: body.type,
  fromNumber: body.from_number ?? null,
  toNumber: body.to_number ?? null,
})

async function refuseForbidden(dialled: DialRequest, run: PlaceRun): Promise<void> {
  const verdict = await allowed(dialled, run)
  if (!verdict.allowed) throw forbidden(verdict)
}

/** What the operator does not allow, in words; of a call in a list, how to go on with that. */
export function forbidden(verdict: DialRefused, { isInList = false } = {}): Refused {
  const { rule, message, change } = verdict
  const when = laterThan(verdict)
  const how = isInList ? ': give the same list again then, and only the rest is dialled.' : '.'
  const later = when && ` It may be tried again ${when}${how}`
  return new Refused(
    'not_allowed',
    `the call is not allowed (${rule}): ${message} Nothing was dialled`,
    {
      next: `${change}${later} Do not look for a way around it.`,
    },
  )
}

/** After what waiting helps; empty where it does not, or nobody knows. */
function laterThan({ rule, retryAfterSeconds }: DialRefused): string {
  if (retryAfterSeconds !== null) return `in ${retryAfterSeconds} s`
  return rule === 'max_at_once' ? 'when a call has ended' : ''
}

/**
 * The call that an identical request has placed: asked first, because whatever fails or refuses
 * later would be told of a call that may be ringing.
 */
async function repeated(run: PlaceRun): Promise<Placement | undefined> {
  const { request, session, signal, until, callOwner } = run
  const { callServices, client } = session
  const { timing, pendingPermits } = callServices
  return inWords(run, async () => {
    const journal = await callServices.journal()
    const context = { client, journal, callOwner, timing, pendingPermits, until }
    return placedBefore(request, context, signal)
  })
}

/** Sends it once, and turns what can come of that into words. */
export async function place(
  run: PlaceRun,
  dialled: DialRequest,
  { isInList = false } = {},
): Promise<Placement> {
  const { request, session, signal, until, callOwner } = run
  const { callServices, client } = session
  const { timing, pendingPermits } = callServices
  const permit = () => permitFor(dialled, run, { isInList })
  const sameForMs = isInList ? sameInListMs : undefined
  return inWords(run, async () => {
    const journal = await callServices.journal()
    const context = {
      client,
      journal,
      callOwner,
      permit,
      sameForMs,
      timing,
      pendingPermits,
      until,
    }
    return placeOnce(request, context, signal)
  })
}

async function permitFor(
  dialled: DialRequest,
  run: PlaceRun,
  { isInList }: { isInList: boolean },
): Promise<Permit> {
  const { policy } = run.session.callServices
  const atOnce = await callsAtOnce(run)
  const verdict = await asked(atOnce, run.signal, () => policy.reserve(dialled))
  if (!verdict.allowed) throw forbidden(verdict, { isInList })
  const { id } = verdict
  return {
    cancel: () => policy.cancel(id),
    placed: async (callId) => atOnce?.underWay.placed(id, callId, atOnce.reader),
  }
}
