import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import * as z from 'zod'
import { hasEnded, mayShowLater } from '../../calls/follow.ts'
import { pollMs } from '../../calls/pace.ts'
import type { CallDetail } from '../../contract/call.ts'
import { routes } from '../../contract/routes.ts'
import { accountOf } from '../../session/account.ts'
import type { Session } from '../../session/session.ts'
import { clientText } from '../../text/client-text.ts'
import { safeLine } from '../../text/safe-text.ts'

/*
 * Tasks (SEP-2663): following a call without waiting for it. A task's id says all there is to know
 * of it, so tasks need no store, survive a restart and can be asked for at any replica; whether the
 * one who asks may see the call is the platform's to say, by the key of the request.
 */

/** How long a task may be asked for, ms: longer than the longest call. */
const ttlMs = 13 * 3_600_000

const TaskId = z.object({
  account: z.string(),
  call: z.string(),
  created: z.int().min(0).max(8.64e15),
})
type TaskId = z.output<typeof TaskId>

export const TaskParams = z.looseObject({ taskId: z.string().min(1).max(1000) })

/** What a task is at a moment; the protocol's own shape. */
export interface Task {
  readonly taskId: string
  readonly status: 'working' | 'completed' | 'failed' | 'cancelled'
  readonly statusMessage: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
  readonly result?: CallToolResult
  readonly [field: string]: unknown
}

/** A result as a tool gives it, with its data. */
type Shown = Pick<CallToolResult, 'content'> & { structuredContent: Record<string, unknown> }

/** How a call that is followed is shown: its state in a line, and in the end as a result. */
export interface CallTaskView {
  readonly state: (call: CallDetail) => string
  readonly result: (call: CallDetail) => Shown
}

/** The task that follows a call which was just placed. */
export function taskOf(call: { id: string }, account: string, message: string): Task {
  const id = { account, call: call.id, created: Date.now() }
  return taskAt(encode(id), id, { status: 'working', statusMessage: message })
}

/** A task in place of a result: the SDK passes on what an extension adds, but has no type for it. */
export const createTaskResult = (task: Task) =>
  ({ resultType: 'task', ...task }) as unknown as InputRequiredResult

/** Tasks that somebody has cancelled, by owner and id: they stay cancelled while this runs. */
export interface CancelledTasks {
  add(owner: string, taskId: string): void
  has(owner: string, taskId: string): boolean
}

export function createCancelledTasks(): CancelledTasks {
  const cancelledTasks = new LRUCache<string, true>({ max: 10_000, ttl: ttlMs })
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
  const id = decode(taskId)
  if (cancelledTasks.has(session.owner, taskId)) {
    return taskAt(taskId, id, {
      status: 'cancelled',
      statusMessage: 'No longer followed. The call itself was not stopped: look with get_call.',
    })
  }
  const call = await followedCall(id, session, signal)
  if (!call || !hasEnded(call)) {
    const statusMessage = call
      ? callTaskView.state(call)
      : 'The platform does not show the call yet.'
    return taskAt(taskId, id, { status: 'working', statusMessage })
  }
  return {
    ...taskAt(taskId, id, { status: 'completed', statusMessage: 'The call has ended.' }),
    result: await asToolResult(callTaskView.result(call), id, session),
  }
}

/** The result as a tool gives it: it names its account. */
async function asToolResult(
  { content, structuredContent: structured }: Shown,
  { account: account_id }: TaskId,
  session: Session,
): Promise<CallToolResult> {
  const request = { params: { account_id }, query: {} }
  const account = await accountOf(routes.calls.get, request, session)
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
  const call = await followedCall(decode(taskId), session, signal)
  if (!call || !hasEnded(call)) cancelledTasks.add(session.owner, taskId)
}

/** The call as it is; `undefined`: it was placed a moment ago, and the platform may show it later. */
async function followedCall(
  { account, call, created }: TaskId,
  session: Session,
  signal: AbortSignal,
): Promise<CallDetail | undefined> {
  const params = { account_id: session.account ?? account, call_id: call }
  try {
    return await session.client.call(routes.calls.get, { params, query: {} }, signal)
  } catch (error) {
    if (mayShowLater(error, created)) return undefined
    throw error
  }
}

function taskAt(
  taskId: string,
  { created }: TaskId,
  { status, statusMessage }: Pick<Task, 'status' | 'statusMessage'>,
): Task {
  return {
    taskId,
    status,
    statusMessage: safeLine(statusMessage),
    createdAt: new Date(created).toISOString(),
    lastUpdatedAt: new Date().toISOString(),
    ttlMs,
    pollIntervalMs: pollMs(Date.now() - created),
  }
}

const encode = (id: TaskId) => Buffer.from(JSON.stringify(id)).toString('base64url')

function decode(taskId: string): TaskId {
  try {
    const id = TaskId.parse(JSON.parse(Buffer.from(taskId, 'base64url').toString()))
    if (Date.now() - id.created <= ttlMs) return id
  } catch {
    // Told below: it is nothing that was made here.
  }
  throw new ProtocolError(-32602, `There is no task ${clientText(taskId, 64)}, or it is too old.`)
}
