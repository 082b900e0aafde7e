import type { CallServices, LookupContext, Permit } from '../../src/calls/placement.ts'
import type { Agent } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import { accountIdIn } from '../../src/platform/sessions/account.ts'
import type { Session } from '../../src/platform/sessions/session.ts'
import type { DialDecision, DialRequest } from '../../src/policy/dial-rules.ts'
import type { CallKey } from '../../src/state/call-journal.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import type { Run } from '../../src/tool/tool.ts'
import { policyRefusal } from './place-call-errors.ts'

interface PolicyRun extends Pick<Run, 'request' | 'signal'> {
  /** True for a call of a batch. */
  readonly isInBatch?: boolean
  readonly session: Pick<Session, 'client' | 'cache' | 'keyHash' | 'platform'> & {
    readonly callServices: Pick<CallServices, 'policy' | 'runningCalls'>
  }
}

/** Facts about a call for the dial policy. */
export const dialRequestOf = (
  body: Pick<CallCreate, 'type' | 'from_number' | 'to_number'>,
  agent: Pick<Agent, 'id' | 'name'>,
): DialRequest => ({
  agentId: agent.id,
  agentName: agent.name ?? null,
  type: body.type,
  fromNumber: body.from_number ?? null,
  toNumber: body.to_number ?? null,
})

/**
 * Asks the dial policy whether a call would be allowed now, without counting the call. Throws
 * ApiError.
 */
export async function checkDialPolicy(dial: DialRequest, run: PolicyRun): Promise<DialDecision> {
  const { policy } = run.session.callServices
  return askPolicy(run, () => policy.check(dial))
}

/** Takes a permit for a call. It counts from now on. Throws Refused and ApiError. */
export async function permitFor(dial: DialRequest, call: CallKey, run: PolicyRun): Promise<Permit> {
  const { policy } = run.session.callServices
  const decision = await askPolicy(run, () => policy.reserve(dial, call))
  if (!decision.allowed) throw policyRefusal(decision, run)
  return permitWith(decision.id, run)
}

/** Permits that earlier attempts took for the same call, on any server. */
export const pendingPermitsOf =
  (run: PolicyRun): LookupContext['pendingPermits'] =>
  async (call) =>
    (await run.session.callServices.policy.pending(call)).map((id) => permitWith(id, run))

const permitWith = (id: string, run: PolicyRun): Permit => ({
  async refuseIfStopped() {
    const refused = await run.session.callServices.policy.stopped()
    if (refused) throw policyRefusal(refused)
  },
  notPlaced: () => run.session.callServices.policy.notPlaced(id),
  placed: async (callId) => {
    const limit = await concurrentCallLimit(run)
    await limit?.runningCalls.placed(id, callId, limit.reader)
  },
})

/**
 * The running calls that count towards `max_at_once`, and access to the account's own among them.
 * `undefined` if the policy does not limit concurrent calls. Throws ApiError.
 */
async function concurrentCallLimit({ request, session }: PolicyRun) {
  const { callServices, client, keyHash, platform } = session
  const { runningCalls } = callServices
  if (!runningCalls) return undefined
  const account = await accountIdIn(request, session)
  // Account ids are unique only within one platform, so the owner includes the platform.
  const owner = JSON.stringify([platform, canonicalId(account)])
  return { runningCalls, reader: { owner, account, client, keyHash } }
}

/**
 * Asks the dial policy about a call (`question`). Before a refusal for `max_at_once`, checks which
 * of the counted calls have ended.
 */
async function askPolicy<V extends { readonly allowed: boolean }>(
  run: PolicyRun,
  question: () => Promise<V>,
): Promise<V> {
  const limit = await concurrentCallLimit(run)
  return limit ? limit.runningCalls.ask(limit.reader, run.signal, question) : question()
}
