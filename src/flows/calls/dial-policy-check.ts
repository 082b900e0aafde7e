import type { CallServices } from '../../calls/call-services.ts'
import type { CallReader, CallsUnderWay } from '../../calls/calls-under-way.ts'
import type { PendingPermits } from '../../calls/pending-permits.ts'
import type { Permit } from '../../calls/placement.ts'
import type { Agent } from '../../contract/agent.ts'
import type { CallCreate } from '../../contract/call.ts'
import { Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import type { DialDecision, DialRefused, DialRequest } from '../../policy/dial-decision.ts'
import { accountIdIn, accountIn } from '../../session/account.ts'
import type { Session } from '../../session/session.ts'
import type { CallKey } from '../../state/journal.ts'
import { canonicalId } from '../../text/canonical-id.ts'

/** What a permit needs of a run. */
export interface PolicyRun extends Pick<Run, 'request' | 'signal'> {
  readonly session: Pick<Session, 'client' | 'cache' | 'owner' | 'platform'> & {
    readonly callServices: Pick<CallServices, 'policy' | 'underWay'>
  }
}

/** A call as the dial policy judges it. */
export const dialRequestOf = (
  { request }: Pick<Run, 'request'>,
  body: Pick<CallCreate, 'type' | 'from_number' | 'to_number'>,
  agent: Pick<Agent, 'id' | 'name'>,
): DialRequest => ({
  accountId: accountIn(request),
  agentId: agent.id,
  agentName: agent.name ?? null,
  type: body.type,
  fromNumber: body.from_number ?? null,
  toNumber: body.to_number ?? null,
})

/** Whether the dial policy would allow a call now. The call does not count. Throws ApiError. */
export async function checkDialPolicy(dial: DialRequest, run: PolicyRun): Promise<DialDecision> {
  const { policy } = run.session.callServices
  return withEndedCallsReleased(await limitOfCallsAtOnce(run), run.signal, () => policy.check(dial))
}

/** What a call in a list adds to a refusal: how to go on with the list. */
interface ListContext {
  readonly isInList?: boolean
}

/** The permit for a call, which counts from now on. Throws Refused and ApiError. */
export async function permitFor(
  dial: DialRequest,
  call: CallKey,
  run: PolicyRun,
  { isInList = false }: ListContext = {},
): Promise<Permit> {
  const { policy } = run.session.callServices
  const limit = await limitOfCallsAtOnce(run)
  const decision = await withEndedCallsReleased(limit, run.signal, () => policy.reserve(dial, call))
  if (!decision.allowed) throw policyRefusal(decision, { isInList })
  return permitWith(decision.id, run)
}

/** Permits that were given before, on any server. */
export const pendingPermitsOf = (run: PolicyRun): PendingPermits => ({
  of: async (call) =>
    (await run.session.callServices.policy.pending(call)).map((id) => permitWith(id, run)),
})

const permitWith = (id: string, run: PolicyRun): Permit => ({
  cancel: () => run.session.callServices.policy.cancel(id),
  placed: async (callId) => {
    const limit = await limitOfCallsAtOnce(run)
    await limit?.underWay.placed(id, callId, limit.reader)
  },
})

/** The calls that count for `max_at_once`, and how those of one account are read. */
interface CallsAtOnceLimit {
  readonly underWay: CallsUnderWay
  readonly reader: CallReader
}

/** `undefined`: the policy has no `max_at_once`. Throws ApiError. */
async function limitOfCallsAtOnce({
  request,
  session,
}: PolicyRun): Promise<CallsAtOnceLimit | undefined> {
  const { callServices, client, owner: key, platform } = session
  const { underWay } = callServices
  if (!underWay) return undefined
  const account = await accountIdIn(request, session)
  // With the platform, because another platform may have an account with the same id.
  const owner = JSON.stringify([platform, canonicalId(account)])
  return { underWay, reader: { owner, account, client, key } }
}

/** Asks the policy; before `max_at_once` refuses a call, calls that have ended are released. */
const withEndedCallsReleased = <V extends { readonly allowed: boolean }>(
  limit: CallsAtOnceLimit | undefined,
  signal: AbortSignal | undefined,
  question: () => Promise<V>,
): Promise<V> => (limit ? limit.underWay.ask(limit.reader, signal, question) : question())

/** The refusal of the dial policy as the refusal of a tool. */
export function policyRefusal(
  decision: DialRefused,
  { isInList = false }: ListContext = {},
): Refused {
  const { rule, message, change } = decision
  const when = retryTime(decision)
  const how = isInList ? ': give the same list again then, and only the rest is dialled.' : '.'
  const later = when && ` It may be tried again ${when}${how}`
  return new Refused(
    'not_allowed',
    `the call is not allowed (${rule}): ${message} Nothing was dialled`,
    {
      next: `${change}${later} Do not look for a way around it.`,
      retryable: when !== '',
      facts: { rule, retryAfter: decision.retryAfterSeconds },
    },
  )
}

/** When the call may be tried again; empty if waiting does not help, or the time is unknown. */
function retryTime({ rule, retryAfterSeconds }: DialRefused): string {
  if (retryAfterSeconds !== null) return `in ${retryAfterSeconds} s`
  return rule === 'max_at_once' ? 'when a call has ended' : ''
}
