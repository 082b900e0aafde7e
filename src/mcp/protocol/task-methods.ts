import {
  ProtocolError,
  ResourceNotFoundError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { routes } from '../../contract/routes.ts'
import type { Session } from '../../session/session.ts'
import { clientText } from '../../text/client-text.ts'
import type { CallContext } from '../call/call.ts'
import type { CallTaskView } from '../call/task.ts'
import type { Tool } from '../call/tool.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { guarded } from './resources.ts'
import { tasksExtension } from './server-info.ts'
import { type CancelledTasks, cancelTask, getTask, TaskParams } from './tasks.ts'

interface TaskServing {
  readonly session: Session
  readonly tools: readonly Tool[]
  readonly cancelledTasks: CancelledTasks
  readonly callTaskView: CallTaskView
  readonly onBug: CallContext['onBug']
}

/** What the tasks methods take and give; made once, not for each server. */
const schemas = { params: TaskParams, result: z.looseObject({}) }

/** The tasks extension (SEP-2663), for clients that declare it. */
export function serveTasks(
  server: Server,
  { session, tools, cancelledTasks, callTaskView, onBug }: TaskServing,
): void {
  const onlyForTakers = (context: ServerContext) => {
    if (clientFeaturesOf(server, context).takesTasks) return
    const requiredCapabilities = { extensions: { [tasksExtension]: {} } }
    throw new ProtocolError(-32021, 'Tasks are for clients that declare the tasks extension.', {
      requiredCapabilities,
    })
  }
  const mayFollow = tools.some(follows)
  const reading = <T>(taskId: string, read: () => Promise<T>) => {
    if (!mayFollow) throw noTask(taskId)
    return guarded('The task', { session, onBug }, read).catch((error: unknown) => {
      if (!(error instanceof ResourceNotFoundError)) throw error
      throw noTask(taskId)
    })
  }
  server.setRequestHandler('tasks/get', schemas, ({ taskId }, context) => {
    onlyForTakers(context)
    const { signal } = context.mcpReq
    return reading(taskId, () => getTask(taskId, session, { cancelledTasks, callTaskView }, signal))
  })
  server.setRequestHandler('tasks/cancel', schemas, async ({ taskId }, context) => {
    onlyForTakers(context)
    const { signal } = context.mcpReq
    await reading(taskId, () => cancelTask(taskId, session, cancelledTasks, signal))
    return {}
  })
  // No task of ours waits for input; late or stray answers are acknowledged and ignored.
  server.setRequestHandler('tasks/update', schemas, (_, context) => {
    onlyForTakers(context)
    return {}
  })
}

/** Whether a tool shows how a call goes: an id of a task says which call, and anybody can write one. */
const follows = ({ route, effect }: Tool) =>
  route.id === routes.calls.get.id || (route.id === routes.calls.place.id && effect !== 'reads')

const noTask = (taskId: string) =>
  new ProtocolError(-32602, `There is no task ${clientText(taskId, 64)} for this API key.`)
