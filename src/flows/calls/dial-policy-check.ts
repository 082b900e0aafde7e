import type { CallReader, CallsUnderWay } from '../../calls/calls-under-way.ts'
import type { Run } from '../../mcp/call/tool.ts'
import type { DialDecision, DialRequest } from '../../policy/dial-decision.ts'
import { accountIdIn } from '../../session/account.ts'
import { canonicalId } from '../../text/canonical-id.ts'

type OnAccount = Pick<Run, 'request' | 'session' | 'signal'>

/** The limit of calls at once, for the calls of one account. */
export interface CallsAtOnce {
  readonly underWay: CallsUnderWay
  readonly reader: CallReader
}

/** `undefined`: the operator has set no such limit. Throws ApiError. */
export async function callsAtOnce({
  request,
  session,
}: OnAccount): Promise<CallsAtOnce | undefined> {
  const { callServices, client, owner: key } = session
  const { underWay } = callServices
  if (!underWay) return undefined
  const account = await accountIdIn(request, session)
  // Another platform may have an account of the same id, and knows nothing of these calls.
  const owner = JSON.stringify([session.platform, canonicalId(account)])
  return { underWay, reader: { owner, account, client, key } }
}

/** Asks the policy, with a view of the calls that have ended meanwhile. */
export const asked = <V extends { readonly allowed: boolean }>(
  atOnce: CallsAtOnce | undefined,
  signal: AbortSignal | undefined,
  question: () => Promise<V>,
): Promise<V> => (atOnce ? atOnce.underWay.ask(atOnce.reader, signal, question) : question())

/** Whether the policy would allow a call now; it is not counted. Throws ApiError. */
export const allowed = async (dialled: DialRequest, run: OnAccount): Promise<DialDecision> =>
  asked(await callsAtOnce(run), run.signal, () => run.session.callServices.policy.check(dialled))
