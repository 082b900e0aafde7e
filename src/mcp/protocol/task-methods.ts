import { ProtocolError, type Server, type ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Task } from '../call/task.ts'
import { clientFeaturesOf } from './client-capabilities.ts'
import { tasksExtension } from './server-info.ts'

/**
 * The tasks of one session. Each method throws ProtocolError −32602 for an id that it does not
 * know.
 */
export interface TaskSource {
  get(taskId: string, signal: AbortSignal): Promise<Task>
  /** Ends a task that has not ended; one that has ended stays as it is. */
  cancel(taskId: string, signal: AbortSignal): Promise<void>
  /** Takes answers to input requests of the task; those to requests that are not open are ignored. */
  answer(taskId: string, responses: InputResponses, signal: AbortSignal): Promise<void>
}

/** The client's answers, by the keys of the requests. */
export type InputResponses = Readonly<Record<string, unknown>>

/** What the tasks methods take and give; made once, not for each server. */
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
    // The SDK takes them out of the params of every request.
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
