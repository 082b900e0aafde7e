import * as z from 'zod'
import { placedBefore, placeOnce } from '../../src/calls/place-once.ts'
import type { CallServices, LookupContext, Permit, Placement } from '../../src/calls/placement.ts'
import type { Agent } from '../../src/contract/agent.ts'
import type { CallCreate } from '../../src/contract/call.ts'
import { routes } from '../../src/contract/routes.ts'
import {
  accountIdIn,
  accountIn,
  accountUnlessAborted,
  callAccountIn,
} from '../../src/platform/sessions/account.ts'
import type { Session } from '../../src/platform/sessions/session.ts'
import { withTimeLimit } from '../../src/platform/time-limit.ts'
import type { DialDecision, DialRequest } from '../../src/policy/dial-rules.ts'
import { type CallKey, sameInBatchMs } from '../../src/state/call-journal.ts'
import { canonicalId } from '../../src/text/canonical-id.ts'
import { e164Expected, e164Meant, isE164 } from '../../src/text/phone-number.ts'
import { accountArgumentText, runIn } from '../../src/tool/account-reader.ts'
import { archivedFixes, inSentences } from '../../src/tool/checks/suggested-fixes.ts'
import { badArgument } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'
import { placingRefusal, policyRefusal } from './place-call-errors.ts'

/** Parts of a run that placing a call uses. The request names the account by id, never as `me`. */
export interface PlacingRun extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'> {
  /** Account that owns the calls in the journal. */
  readonly callOwner: string
  /** True for a call of a batch. */
  readonly isInBatch?: boolean
}

/**
 * Resolves the account to its id, because the journal would place a call twice if its account had
 * two names. Throws ApiError if the API key has no access to the account. Outcomes of earlier calls
 * need this check: they are reported without a request to the platform.
 */
export async function placingRun<
  R extends Pick<Run, 'request' | 'session' | 'signal' | 'answerBy'>,
>(run: R): Promise<R & PlacingRun> {
  const { account, callOwner } = await accountUnlessAborted(readableAccount(run), run.signal)
  return { ...runIn({ id: account }, run), callOwner }
}

async function readableAccount({ request, session }: Pick<Run, 'request' | 'session'>) {
  const found = await callAccountIn(request, session)
  if (!found.isOwn) {
    // The cheapest request that fails for a key without access to the account's calls.
    const oneCall = { params: { account_id: found.account }, query: { limit: 1 } }
    await session.cache.read(routes.calls.list, oneCall, 'account')
  }
  return found
}

/**
 * The argument for the caller number: a phone number or its name. The request always has the phone
 * number.
 */
export const callerNumber = {
  from_number: z
    .string()
    .min(1)
    .optional()
    .describe('phone: your number to call from, E.164 or its exact name.'),
}

/** Throws Refused if the caller number is neither a phone number nor the name of one. */
export function refuseUnknownCallerNumber(number: string | undefined): void {
  if (number === undefined || isE164(number)) return
  const message = e164Meant(number)
    ? e164Expected(number)
    : `${JSON.stringify(number)} is neither an E.164 number such as +4930123456 nor the exact name of one of your numbers (list_phone_numbers)`
  throw badArgument('from_number', message)
}

/**
 * Finds the call that an identical earlier request placed. Runs as soon as the call is identified:
 * its account and its agent are ids, its numbers are valid. Every other step that can fail or refuse
 * comes later, because no failure may be reported for a call that may be ringing. Throws Refused.
 */
export async function findRepeated(run: PlacingRun): Promise<Placement | undefined> {
  try {
    return await placedBefore(contextOf(run), run.signal)
  } catch (error) {
    throw placingRefusal(error, run)
  }
}

/** Reads the agent that makes the call. Throws Refused if the agent is archived, and ApiError. */
export async function readCallingAgent(agent_id: string, run: PlacingRun): Promise<Agent> {
  const { request, session, signal, answerBy } = run
  const get = { params: { account_id: accountIn(request), agent_id }, query: {} }
  const agent = await withTimeLimit(answerBy - performance.now(), signal, (limited) =>
    session.client.call(routes.agents.get, get, limited),
  )
  if (!agent.is_archived) return agent
  const fixes = archivedFixes(agent.id, { accountArgument: accountArgumentText(run) })
  const message = `${agent.name ?? agent.id} is archived. ${inSentences(fixes)}`
  throw badArgument('agent_id', message)
}

/** Parts of a run that asking the dial policy uses. */
interface PolicyRun extends Pick<Run, 'request' | 'signal'>, Pick<PlacingRun, 'isInBatch'> {
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

/**
 * Places the call of `run.request` exactly once. The permit of the dial policy counts from just
 * before the request is sent. Throws Refused and ApiError.
 */
export async function placePermitted(run: PlacingRun, dial: DialRequest): Promise<Placement> {
  const permit = (call: CallKey) => permitFor(dial, call, run)
  const sameForMs = run.isInBatch ? sameInBatchMs : undefined
  try {
    return await placeOnce({ ...contextOf(run), permit, sameForMs }, run.signal)
  } catch (error) {
    throw placingRefusal(error, run)
  }
}

function contextOf(run: PlacingRun): LookupContext {
  const { request, session, callOwner, answerBy } = run
  const { client, callServices } = session
  const { journal, timing } = callServices
  const pendingPermits = pendingPermitsOf(run)
  return {
    ...{ request, client, journal, callOwner, pendingPermits, timing },
    until: answerBy,
  }
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
