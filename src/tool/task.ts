import { createHash } from 'node:crypto'
import {
  type CallToolResult,
  type InputRequests,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache/raw'
import * as z from 'zod'
import { pollIntervalMs } from '../calls/call-follower.ts'
import type { CallDetail } from '../contract/call.ts'
import type { Broadcast } from '../state/broadcast.ts'
import type { Records } from '../state/records.ts'
import { clientText, safeLine } from '../text/safe-text.ts'

/*
 * A task (SEP-2663) stands for the result of a tool that follows a telephone call to its end. The
 * task's id encodes its whole state, so running tasks need no store, survive a restart, and work on
 * any replica. Only cancellations are stored. The platform decides by the request's API key whether
 * the caller may see the call.
 */

/** Lifetime of a task, ms. Longer than the longest telephone call. */
const taskTtlMs = 13 * 3_600_000

const TaskId = z.object({
  account: z.string(),
  call: z.string(),
  created: z.int().min(0).max(8.64e15),
})
export type TaskId = z.output<typeof TaskId>

/**
 * The state of a task, with its data (DetailedTask). `completed` holds any result of the tool, even
 * one with `isError`; `failed` is only for JSON-RPC errors. `inputRequests` are the requests
 * without an answer; a key stands for the same request as long as the task lives.
 */
export type TaskState = { readonly statusMessage: string } & (
  | { readonly status: 'working' | 'cancelled' }
  | { readonly status: 'input_required'; readonly inputRequests: InputRequests }
  | { readonly status: 'completed'; readonly result: CallToolResult }
  | {
      readonly status: 'failed'
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
    }
)

/** A task in the protocol's shape. */
export type Task = TaskState & {
  readonly taskId: string
  readonly createdAt: string
  readonly lastUpdatedAt: string
  readonly ttlMs: number
  readonly pollIntervalMs: number
  readonly [field: string]: unknown
}

/** How a task shows its telephone call: the state as one line, and the final result. */
export interface CallTaskView {
  readonly state: (call: CallDetail) => string
  readonly result: (
    call: CallDetail,
  ) => Pick<CallToolResult, 'content'> & { structuredContent: Record<string, unknown> }
}

/** The task that follows a call that was just placed. */
export function taskOfCall(call: { id: string }, account: string, message: string): Task {
  const id = { account, call: call.id, created: Date.now() }
  return taskIn({ status: 'working', statusMessage: message }, encodeTaskId(id), id)
}

/** A task in the given state. */
export function taskIn(
  state: TaskState,
  taskId: string,
  { created }: Pick<TaskId, 'created'>,
): Task {
  return {
    ...state,
    taskId,
    statusMessage: safeLine(state.statusMessage),
    createdAt: new Date(created).toISOString(),
    lastUpdatedAt: new Date().toISOString(),
    ttlMs: taskTtlMs,
    pollIntervalMs: pollIntervalMs(Date.now() - created),
  }
}

/**
 * A task in place of a result. The MCP SDK passes extension fields through, but has no type for
 * them.
 */
export const createTaskResult = (task: Task) =>
  ({ resultType: 'task', ...task }) as unknown as InputRequiredResult

const encodeTaskId = (id: TaskId) => Buffer.from(JSON.stringify(id)).toString('base64url')

/** Throws ProtocolError for an id that this server did not create, or that is too old. */
export function decodeTaskId(taskId: string): TaskId {
  try {
    const id = TaskId.parse(JSON.parse(Buffer.from(taskId, 'base64url').toString()))
    if (Date.now() - id.created <= taskTtlMs) return id
  } catch {
    // The text is not an id of this server; the error below says so.
  }
  throw new ProtocolError(-32602, `There is no task ${clientText(taskId, 64)}, or it is too old.`)
}

/** Cancelled tasks, by owner and id. */
export interface CancelledTasks {
  /** Cancels the task for the rest of its lifetime. Throws StateError. */
  add(owner: string, taskId: string): Promise<void>
  /** Throws StateError. */
  has(owner: string, taskId: string): Promise<boolean>
}

const cancelledTask = 'cancelled_task'

/** Clients choose the task ids, so the owner is part of the record's id. */
const cancelledTaskId = (owner: string, taskId: string) =>
  createHash('sha256')
    .update(JSON.stringify([owner, taskId]))
    .digest('base64url')

/** Maximum number of cancelled tasks that a server remembers in its own memory. */
const maxKnown = 10_000

/**
 * Cancelled tasks in the shared records. `keptMs`: lifetime of a task, ms. A task that this server
 * knows to be cancelled stays cancelled even while the records are unreadable.
 */
export function createCancelledTasks(
  { records, broadcast }: { readonly records: Records; readonly broadcast: Broadcast },
  keptMs = taskTtlMs,
): CancelledTasks {
  const known = new LRUCache<string, true>({ max: maxKnown, ttl: keptMs })
  broadcast.listen(cancelledTask, (id) => known.set(id, true))
  return {
    async add(owner, taskId) {
      const id = cancelledTaskId(owner, taskId)
      await records.add({ kind: cancelledTask, id, owner, value: '', forMs: keptMs })
      broadcast.announce({ kind: cancelledTask, topic: id })
    },
    async has(owner, taskId) {
      const id = cancelledTaskId(owner, taskId)
      if (known.has(id)) return true
      const isCancelled = (await records.get({ kind: cancelledTask, id })) !== undefined
      if (isCancelled) known.set(id, true)
      return isCancelled
    },
  }
}
