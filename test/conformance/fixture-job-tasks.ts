import { randomUUID } from 'node:crypto'
import {
  type CallToolResult,
  type InputRequests,
  inputRequired,
  type McpServer,
  ProtocolError,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { requireTasks, type TaskSource } from '../../src/mcp/tasks.ts'
import { createTaskResult, type Task, type TaskState, taskIn } from '../../src/tool/task.ts'

/*
 * Tasks that calls cannot represent: a tool that fails during its task, a task that fails, and one
 * that waits for input. The task methods are the server's own; these functions only supply the
 * state of a task.
 */

/** Final state of a job, or its cancellation. */
type Ended = Exclude<TaskState, { status: 'input_required' }>

interface Job {
  readonly created: number
  /** Pending input requests. */
  inputRequests: InputRequests
  /** End of the job after the last answer, ms since 1970. */
  endsAt: number
  end: Ended
}

/** Duration of a job without pending input, ms. */
const jobMs = 500

const jobs = new Map<string, Job>()

export const isJob = (taskId: string): boolean => jobs.has(taskId)

/** Starts a job and returns its task. */
function startJob(end: Ended, inputRequests: InputRequests = {}): Task {
  const created = Date.now()
  const taskId = randomUUID()
  const job = { created, inputRequests, endsAt: created + jobMs, end }
  jobs.set(taskId, job)
  return taskIn({ status: 'working', statusMessage: 'Begun.' }, taskId, job)
}

function jobOf(taskId: string): Job {
  const job = jobs.get(taskId)
  if (!job) throw new ProtocolError(-32602, 'There is no such job.')
  return job
}

function stateOf({ inputRequests, endsAt, end }: Job): TaskState {
  if (end.status === 'cancelled') return end
  if (Object.keys(inputRequests).length > 0)
    return { status: 'input_required', statusMessage: 'Waits for answers.', inputRequests }
  return Date.now() >= endsAt ? end : { status: 'working', statusMessage: 'Works.' }
}

export const jobTasks: TaskSource = {
  async get(taskId) {
    const job = jobOf(taskId)
    return taskIn(stateOf(job), taskId, job)
  },
  async cancel(taskId) {
    const job = jobOf(taskId)
    const { status } = stateOf(job)
    if (status === 'working' || status === 'input_required')
      job.end = { status: 'cancelled', statusMessage: 'Cancelled.' }
  },
  async answer(taskId, responses) {
    const job = jobOf(taskId)
    const open = Object.entries(job.inputRequests).filter(([key]) => !(key in responses))
    job.inputRequests = Object.fromEntries(open)
    job.endsAt = Date.now() + jobMs
  },
}

const text = (words: string) => ({ content: [{ type: 'text' as const, text: words }] })
const failure: CallToolResult = { ...text('This job always fails.'), isError: true }
const error = { code: -32603, message: 'This job always ends in an error.' }
const done = (words: string) =>
  ({ status: 'completed', statusMessage: 'Done.', result: text(words) }) as const

const Confirmed = z.object({ confirm: z.boolean() })
const ask = (message: string) => inputRequired.elicit({ message, requestedSchema: Confirmed })

const File = z.object({ filename: z.string() })

/** Tools that run only as tasks. */
const jobTools = {
  failing_job: () => startJob({ status: 'completed', statusMessage: 'Failed.', result: failure }),
  protocol_error_job: () => startJob({ status: 'failed', statusMessage: 'Failed.', error }),
  multi_input: () =>
    startJob(done('Both answered.'), { first: ask('The first?'), second: ask('The second?') }),
}

const isJobTool = (name: string) => name in jobTools || name === 'confirm_delete'

/**
 * Refuses job tools for clients without tasks. Call it before any tool is registered, because
 * McpServer sets its handler with the first one.
 */
export function refuseJobsWithoutTasks({ server }: McpServer): void {
  refuseBefore(server, (name, context) => {
    if (isJobTool(name)) requireTasks(server, context)
  })
}

export function registerJobTools(mcp: McpServer): void {
  for (const [name, start] of Object.entries(jobTools))
    mcp.registerTool(name, { description: 'A job' }, () => createTaskResult(start()))
  const given = { description: 'Waits for an answer', inputSchema: File }
  mcp.registerTool('confirm_delete', given, ({ filename }) =>
    createTaskResult(
      startJob(done(`Deleted ${filename}.`), { confirm: ask(`Delete ${filename}?`) }),
    ),
  )
}

const Call = z.looseObject({ params: z.looseObject({ name: z.string() }) })

/**
 * Runs a check before tools/call, so that the request itself can fail. McpServer would turn an
 * error of a tool into a tool result.
 */
function refuseBefore(server: Server, refuse: (name: string, context: ServerContext) => void) {
  const { setRequestHandler } = server
  const value = (method: string, ...rest: unknown[]) => {
    const run = rest.pop()
    const checked = (request: unknown, context: ServerContext) => {
      refuse(Call.parse(request).params.name, context)
      return typeof run === 'function' ? run(request, context) : undefined
    }
    const handler = method === 'tools/call' ? checked : run
    return Reflect.apply(setRequestHandler, server, [method, ...rest, handler])
  }
  Object.defineProperty(server, 'setRequestHandler', { value })
}
