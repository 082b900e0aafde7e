import {
  type CallToolResult,
  ProtocolError,
  ResourceNotFoundError,
} from '@modelcontextprotocol/server'
import { hasEnded } from '../../calls/call-state.ts'
import type { CallDetail } from '../../contract/call.ts'
import { routes } from '../../contract/routes.ts'
import { resultAccount, settledAccount } from '../../session/account.ts'
import { mayShowLater } from '../../session/call-owner.ts'
import type { Session } from '../../session/session.ts'
import type { CancelledTasks } from '../../state/cancelled-tasks.ts'
import { StateError } from '../../state/state-error.ts'
import { clientText } from '../../text/client-text.ts'
import type { CallContext } from '../call/call.ts'
import {
  type CallTaskView,
  decodeTaskId,
  type Task,
  type TaskId,
  type TaskState,
  taskIn,
} from '../call/task.ts'
import type { Tool } from '../call/tool.ts'
import { withProtocolErrors } from './read-error.ts'
import type { TaskSource } from './task-methods.ts'

/*
 * The tasks of this server (SEP-2663): each follows a call, so that no request waits for its end.
 * The task and its id are defined in mcp/call/task.ts.
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
  const reading = <T>(taskId: string, read: () => Promise<T>) => {
    if (!mayRead) throw noTask(taskId)
    return withProtocolErrors('The task', { session, onBug }, read).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundError)) throw error
      throw noTask(taskId)
    })
  }
  return {
    get: (taskId, signal) => reading(taskId, () => getTask(taskId, options, signal)),
    // The call itself goes on.
    cancel: (taskId, signal) =>
      reading(taskId, async () => {
        const call = await followedCall(decodeTaskId(taskId), session, signal)
        if (!call || !hasEnded(call)) await cancelTask(taskId, options)
      }),
    // A task that follows a call asks nothing, so answers are ignored.
    answer: (taskId, _, signal) =>
      reading(taskId, async () => {
        await followedCall(decodeTaskId(taskId), session, signal)
      }),
  }
}

/**
 * Whether a tool shows the state of calls. Without such a tool tasks are not readable either: an id
 * only names a call, and any client can write one.
 */
const showsCalls = ({ route, effect }: Tool) =>
  route.id === routes.calls.get.id || (route.id === routes.calls.place.id && effect !== 'reads')

const noTask = (taskId: string) =>
  new ProtocolError(-32602, `There is no task ${clientText(taskId, 64)} for this API key.`)

/** The state of a task. Throws ProtocolError for an invalid id, and ApiError. */
async function getTask(
  taskId: string,
  { session, cancelledTasks, callTaskView }: CallTasksOptions,
  signal: AbortSignal,
): Promise<Task> {
  const id = decodeTaskId(taskId)
  const task = (state: TaskState) => taskIn(state, taskId, id)
  if (await isCancelled(taskId, { session, cancelledTasks })) {
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

type CancelOptions = Pick<CallTasksOptions, 'session' | 'cancelledTasks'>

/** Throws ProtocolError where it cannot be remembered that the task is cancelled. */
async function cancelTask(
  taskId: string,
  { session, cancelledTasks }: CancelOptions,
): Promise<void> {
  try {
    await cancelledTasks.add(session.owner, taskId)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    throw new ProtocolError(-32603, `The task was not cancelled. ${error.message}`)
  }
}

/** Where this cannot be read, the state of the call is told: it is true in any case. */
async function isCancelled(
  taskId: string,
  { session, cancelledTasks }: CancelOptions,
): Promise<boolean> {
  try {
    return await cancelledTasks.has(session.owner, taskId)
  } catch (error) {
    if (!(error instanceof StateError)) throw error
    return false
  }
}

/** The result of a call, as a tool returns it: it names the account. */
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

/** The call; `undefined`: the platform does not show it yet. */
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
