import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Run, ToolOutcome } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { callOwner, keyAccount } from '../../session/call-owner.ts'
import { StateError } from '../../state/state-error.ts'
import { counted } from '../../text/counted.ts'
import { accountArgumentText } from '../account-in-words.ts'
import {
  callListLines,
  followedFields,
  goOn,
  type ListedCall,
  statesInWords,
  withProblemsOnce,
} from './call-list-result.ts'
import { type FollowedCalls, followCalls } from './follow-calls.ts'
import type { FollowRun } from './follow-progress.ts'

type BatchRun = Pick<Run, 'request'> & FollowRun

/** Follows all calls of a list until they have ended, or for so long. Throws Refused and ApiError. */
export async function waitForBatch(
  batchId: string,
  run: BatchRun,
  forMs: number,
): Promise<ToolOutcome> {
  const { account, callIds } = await callsOf(batchId, run)
  const followed = await followCalls({ account, callIds, forMs }, run)
  const calls = callIds.map((callId) => listedCall(callId, followed))
  throwIfUnread(calls, followed)
  const isUnread = calls.some(({ state }) => state === 'unknown')
  const ended = !isUnread && !goOn(calls)
  const summary = `${counted(calls.length, 'call')}: ${statesInWords(calls)}.`
  const which = `batch_id ${batchId}${accountArgumentText(run)}`
  const next = ended ? 'All have ended.' : `Wait on with wait_for_call, ${which}.`
  return {
    structured: { summary, ended, batch_id: batchId, calls: withProblemsOnce(calls) },
    lines: [`${summary} ${next}`, ...callListLines(calls)],
  }
}

async function callsOf(batchId: string, { request, session }: BatchRun) {
  try {
    const journal = await session.callServices.journal()
    const own = await keyAccount(session, journal)
    const named = accountIn(request)
    const account = named === 'me' ? own.id : named
    const { owner } = callOwner(session, account, own)
    const callIds = await session.callServices.batches.find(owner, batchId)
    if (callIds) return { account, callIds }
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw new Refused('not_allowed', error.message, {
      next: 'Do what the message says, or wait for each call by its call_id.',
    })
  }
  throw badArguments([
    {
      argument: 'batch_id',
      message: `there is no ${batchId} in this account; place_calls tells it, or wait for each call by its call_id`,
    },
  ])
}

function listedCall(callId: string, followed: FollowedCalls): ListedCall {
  const one = followed.get(callId)
  if (!one) return { call_id: callId, state: 'unknown' }
  const { to_number, external_id } = 'call' in one ? one.call : {}
  return {
    ...(typeof to_number === 'string' && { to_number }),
    call_id: callId,
    ...(typeof external_id === 'string' && { external_id }),
    ...followedFields(one),
  }
}

/** If no call could be read, the request has failed. */
function throwIfUnread(calls: readonly ListedCall[], followed: FollowedCalls): void {
  if (calls.some(({ state }) => state !== 'unknown')) return
  for (const one of followed.values()) if ('error' in one) throw one.error
}
