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
 * Tasks that calls cannot stand for: a tool that fails while its task runs, a task that fails, and
 * one that waits for answers. What the real server does with tasks is done by its own methods;
 * these only say how the tasks stand.
 */

/** How a job ends, or that it was cancelled. */
type Ended = Exclude<TaskState, { status: 'input_required' }>

interface Job {
  readonly created: number
  /** The requests that are not answered yet. */
  inputRequests: InputRequests
  /** When it ends after the last answer, ms since 1970. */
  endsAt: number
  end: Ended
}

/** How long a job takes, once nothing has to be answered, ms. */
const jobMs = 500

const jobs = new Map<string, Job>()

export const isJob = (taskId: string): boolean => jobs.has(taskId)

/** Begins a job: the task that stands for it. */
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

/** The tools that work only as tasks. */
const jobTools = {
  failing_job: () => startJob({ status: 'completed', statusMessage: 'Failed.', result: failure }),
  protocol_error_job: () => startJob({ status: 'failed', statusMessage: 'Failed.', error }),
  multi_input: () =>
    startJob(done('Both answered.'), { first: ask('The first?'), second: ask('The second?') }),
}

const isJobTool = (name: string) => name in jobTools || name === 'confirm_delete'

/** To be called before any tool is registered: McpServer sets its handler with the first one. */
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

/** Lets a call be refused as a request: what a tool throws, McpServer turns into its result. */
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
