import { withTimeLimit } from '../../api/time-limit.ts'
import { placedBefore, placeOnce } from '../../calls/place-once.ts'
import type { Placement } from '../../calls/placement.ts'
import type { RepeatContext } from '../../calls/placing-context.ts'
import type { Agent } from '../../contract/agent.ts'
import { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { DialRequest } from '../../policy/dial-decision.ts'
import { accountIn } from '../../session/account.ts'
import { type CallKey, sameInListMs } from '../../state/journal.ts'
import { withCallErrorsRefused } from './call-errors.ts'
import { pendingPermitsOf, permitFor } from './dial-policy-check.ts'
import type { PlacingRun } from './placing-run.ts'

/** The agent that is to speak. Throws Refused if it is archived, and ApiError. */
export async function readSpeaker(agent_id: string, run: PlacingRun): Promise<Agent> {
  const { request, session, signal, answerBy } = run
  const get = { params: { account_id: accountIn(request), agent_id }, query: {} }
  const agent = await withTimeLimit(answerBy - performance.now(), signal, (limited) =>
    session.client.call(routes.agents.get, get, limited),
  )
  if (!agent.is_archived) return agent
  throw badArguments([
    { argument: 'agent_id', message: `${agent.name ?? agent.id} is archived; take another agent` },
  ])
}

/**
 * The call that an identical request has placed. Asked before anything that can fail or refuse:
 * a failure must not be reported for a call that may be ringing. Throws Refused.
 */
export const findRepeated = (run: PlacingRun): Promise<Placement | undefined> =>
  withCallErrorsRefused(run, async () =>
    placedBefore(run.request, await contextOf(run), run.signal),
  )

/**
 * Places the call of `run.request` exactly once, with a permit of the dial policy that counts from
 * the moment before it is sent. Throws Refused and ApiError.
 */
export const placePermitted = (
  run: PlacingRun,
  dial: DialRequest,
  { isInList = false } = {},
): Promise<Placement> =>
  withCallErrorsRefused(run, async () => {
    const context = {
      ...(await contextOf(run)),
      permit: (call: CallKey) => permitFor(dial, call, run, { isInList }),
      sameForMs: isInList ? sameInListMs : undefined,
    }
    return placeOnce(run.request, context, run.signal)
  })

async function contextOf(run: PlacingRun): Promise<RepeatContext> {
  const { session, callOwner, answerBy } = run
  const { client, callServices } = session
  const { timing } = callServices
  const journal = await callServices.journal()
  const pendingPermits = pendingPermitsOf(run)
  return { client, journal, callOwner, timing, pendingPermits, until: answerBy }
}
