import type { CallToolResult } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { hasEnded } from '../../calls/follow.ts'
import type { CallDetail } from '../../contract/call.ts'
import { routes } from '../../contract/routes.ts'
import { resultAccount, settledAccount } from '../../session/account.ts'
import { mayShowLater } from '../../session/call-owner.ts'
import type { Session } from '../../session/session.ts'
import {
  type CallTaskView,
  decodeTaskId,
  type Task,
  type TaskId,
  taskState,
  taskTtlMs,
} from '../call/task.ts'

/*
 * Tasks (SEP-2663): following a call without waiting for it. What a task is, and its id: see
 * mcp/call/task.ts.
 */

export const TaskParams = z.looseObject({ taskId: z.string().min(1).max(1000) })

/** Tasks that somebody has cancelled, by owner and id: they stay cancelled while this runs. */
export interface CancelledTasks {
  add(owner: string, taskId: string): void
  has(owner: string, taskId: string): boolean
}

export function createCancelledTasks(): CancelledTasks {
  const cancelledTasks = new LRUCache<string, true>({ max: 10_000, ttl: taskTtlMs })
  return {
    add: (owner, taskId) => void cancelledTasks.set(`${owner} ${taskId}`, true),
    has: (owner, taskId) => cancelledTasks.has(`${owner} ${taskId}`),
  }
}

/** How a task stands. Throws ProtocolError for an id that is none, ApiError as the platform says. */
export async function getTask(
  taskId: string,
  session: Session,
  { cancelledTasks, callTaskView }: { cancelledTasks: CancelledTasks; callTaskView: CallTaskView },
  signal: AbortSignal,
): Promise<Task> {
  const id = decodeTaskId(taskId)
  if (cancelledTasks.has(session.owner, taskId)) {
    return taskState(taskId, id, {
      status: 'cancelled',
      statusMessage: 'No longer followed. The call itself was not stopped: look with get_call.',
    })
  }
  const call = await followedCall(id, session, signal)
  if (!call || !hasEnded(call)) {
    const statusMessage = call
      ? callTaskView.state(call)
      : 'The platform does not show the call yet.'
    return taskState(taskId, id, { status: 'working', statusMessage })
  }
  return {
    ...taskState(taskId, id, { status: 'completed', statusMessage: 'The call has ended.' }),
    result: await asToolResult(callTaskView.result(call), id, session),
  }
}

/** The result as a tool gives it: it names its account. */
async function asToolResult(
  { content, structuredContent: structured }: ReturnType<CallTaskView['result']>,
  { account: account_id }: TaskId,
  session: Session,
): Promise<CallToolResult> {
  const request = { params: { account_id }, query: {} }
  const account = await resultAccount(routes.calls.get, request, session)
  const named = account === undefined ? structured : { account_id: account, ...structured }
  return { content, structuredContent: named }
}

/**
 * Ends the following; of the call itself it stops nothing. A task whose call has ended is completed
 * and stays so. Throws like getTask.
 */
export async function cancelTask(
  taskId: string,
  session: Session,
  cancelledTasks: CancelledTasks,
  signal: AbortSignal,
): Promise<void> {
  const call = await followedCall(decodeTaskId(taskId), session, signal)
  if (!call || !hasEnded(call)) cancelledTasks.add(session.owner, taskId)
}

/** The call as it is; `undefined`: the platform may show it later. */
async function followedCall(
  { account: named, call: callId }: TaskId,
  session: Session,
  signal: AbortSignal,
): Promise<CallDetail | undefined> {
  const account = settledAccount(named, session.pinnedAccount)
  const params = { account_id: account, call_id: callId }
  try {
    return await session.client.call(routes.calls.get, { params, query: {} }, signal)
  } catch (error) {
    if (await mayShowLater(error, { account, callId }, session)) return undefined
    throw error
  }
}
