import {
  type CallToolResult,
  ProtocolError,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { hasEnded } from '../calls/call-follower.ts'
import type { CallDetail } from '../contract/call.ts'
import { routes } from '../contract/routes.ts'
import { mayShowLater, resultAccount, settledAccount } from '../platform/sessions/account.ts'
import type { Session } from '../platform/sessions/session.ts'
import { StateError } from '../state/state-access.ts'
import { clientText } from '../text/safe-text.ts'
import type { CallContext } from '../tool/run-tool-call.ts'
import {
  type CallTaskView,
  type CancelledTasks,
  decodeTaskId,
  type Task,
  type TaskId,
  type TaskState,
  taskIn,
} from '../tool/task.ts'
import type { Tool } from '../tool/tool.ts'
import { clientFeaturesOf } from './client-of-request.ts'
import { withProtocolErrors } from './errors.ts'
import { tasksExtension } from './server-info.ts'

/*
 * Tasks of this server (SEP-2663). Each follows a placed call, so that no request waits for the
 * end of the call. tool/task.ts defines the task and its id.
 */

interface CallTasksOptions {
  readonly session: Session
  readonly tools: readonly Tool[]
  readonly cancelledTasks: CancelledTasks
  readonly callTaskView: CallTaskView
  readonly onBug: CallContext['onBug']
}

/** The tasks of a session. The methods throw only ProtocolError. */
export function callTasks(options: CallTasksOptions): TaskSource {
  const { session, tools, onBug } = options
  const mayRead = tools.some(showsCalls)
  const readTask = <T>(taskId: string, read: () => Promise<T>) => {
    if (!mayRead) throw noTask(taskId)
    return withProtocolErrors('The task', { session, onBug }, read).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundError)) throw error
      throw noTask(taskId)
    })
  }
  return {
    get: (taskId, signal) => readTask(taskId, () => getTask(taskId, options, signal)),
    // Cancelling a task does not end its call.
    cancel: (taskId, signal) =>
      readTask(taskId, async () => {
        const call = await followedCall(decodeTaskId(taskId), session, signal)
        if (!call || !hasEnded(call)) await cancelTask(taskId, options)
      }),
    // A task never asks the client, so answers are ignored.
    answer: (taskId, _, signal) =>
      readTask(taskId, async () => {
        await followedCall(decodeTaskId(taskId), session, signal)
      }),
  }
}

/**
 * True if a tool shows the state of calls. Otherwise tasks are not readable: a task id
 * only names a call, and any client can forge an id.
 */
const showsCalls = ({ route, effect }: Tool) =>
  route.id === routes.calls.get.id || (route.id === routes.calls.place.id && effect !== 'reads')

const noTask = (taskId: string) =>
  new ProtocolError(-32602, `There is no task ${clientText(taskId, 64)} for this API key.`)

/** The state of a task. Throws ProtocolError for an invalid id, and ApiError. */
async function getTask(
  taskId: string,
  options: CallTasksOptions,
  signal: AbortSignal,
): Promise<Task> {
  const { session, callTaskView } = options
  const id = decodeTaskId(taskId)
  const task = (state: TaskState) => taskIn(state, taskId, id)
  if (await isCancelled(taskId, options)) {
    return task({
      status: 'cancelled',
      statusMessage: 'No longer followed. The call itself was not stopped: look with get_call.',
    })
  }
  const call = await followedCall(id, session, signal)
  if (!call || !hasEnded(call)) {
    const statusMessage = call
      ? callTaskView.state(call)
      : 'The platform does not show the call yet.'
    return task({ status: 'working', statusMessage })
  }
  const result = await asToolResult(callTaskView.result(call), id, session)
  return task({ status: 'completed', statusMessage: 'The call has ended.', result })
}

/** Throws ProtocolError if the cancellation cannot be stored. */
async function cancelTask(
  taskId: string,
  { session, cancelledTasks }: CallTasksOptions,
): Promise<void> {
  try {
    await cancelledTasks.add(session.keyHash, taskId)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw new ProtocolError(
      -32603,
      'The task was not cancelled: what this server keeps cannot be written at the moment. Try again in a few seconds.',
    )
  }
}

/**
 * True if a task was cancelled. An unreadable state counts as not cancelled: the task then shows
 * its call.
 */
async function isCancelled(
  taskId: string,
  { session, cancelledTasks }: CallTasksOptions,
): Promise<boolean> {
  try {
    return await cancelledTasks.has(session.keyHash, taskId)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return false
  }
}

/** The result of the task in the form that the tool itself would return: with `account_id`. */
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

/** Reads the call; `undefined`: the platform does not list the call yet. */
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

/**
 * The tasks of one session. Each method throws ProtocolError −32602 for an id that it does not
 * know.
 */
export interface TaskSource {
  get(taskId: string, signal: AbortSignal): Promise<Task>
  /** Cancels a task. A finished task stays as it is. */
  cancel(taskId: string, signal: AbortSignal): Promise<void>
  /**
   * Accepts the client's answers to input requests of the task. Answers to other requests are
   * ignored.
   */
  answer(taskId: string, responses: InputResponses, signal: AbortSignal): Promise<void>
}

/** The client's answers, by the keys of the requests. */
type InputResponses = Readonly<Record<string, unknown>>

/** Schemas of the tasks methods; created once, not per server. */
const schemas = {
  params: z.looseObject({ taskId: z.string().min(1).max(1000) }),
  result: z.looseObject({}),
}

/** The methods of the tasks extension (SEP-2663), for clients that declare it. */
export function serveTasks(server: Server, source: TaskSource): void {
  server.setRequestHandler('tasks/get', schemas, ({ taskId }, context) => {
    requireTasks(server, context)
    return source.get(taskId, context.mcpReq.signal)
  })
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    requireTasks(server, context)
    await source.cancel(taskId, context.mcpReq.signal)
    return {}
  })
  server.setRequestHandler('tasks/update', schemas, async ({ taskId }, context) => {
    requireTasks(server, context)
    // The SDK moves `inputResponses` from the params of every request to the context.
    const { inputResponses = {}, signal } = context.mcpReq
    await source.answer(taskId, inputResponses, signal)
    return {}
  })
}

/** Throws ProtocolError −32021 unless the client of the request declares the tasks extension. */
export function requireTasks(server: Server, context: ServerContext): void {
  if (clientFeaturesOf(server, context).takesTasks) return
  const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
  throw new ProtocolError(-32021, 'Tasks are for clients that declare the tasks extension.', {
    requiredCapabilities,
  })
}
