import { randomUUID } from 'node:crypto'
import {
  acceptedContent,
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  type McpServer,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { CallDetail } from '../../src/contract/call.ts'
import { clientFeaturesOf } from '../../src/mcp/client-of-request.ts'
import { callTasks, serveTasks, type TaskSource } from '../../src/mcp/tasks.ts'
import { createClient } from '../../src/platform/client.ts'
import { createLocalBroadcast } from '../../src/state/broadcast.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { safeLines } from '../../src/text/safe-text.ts'
import { createCancelledTasks, createTaskResult } from '../../src/tool/task.ts'
import { callTaskView } from '../../tools/calls/follow-calls.ts'
import { placedCallOutcome } from '../../tools/calls/place-call.ts'
import { tools } from '../../tools/index.ts'
import { sessionOf } from '../harness/session.ts'
import { isJob, jobTasks } from './fixture-job-tasks.ts'

/*
 * The suite's tools for the tasks extension. In the real server a task follows a call on the
 * platform, so most of these tools place a call on a simulated platform. The others start a job
 * (fixture-job-tasks.ts). The task methods are the server's own.
 */

/** Course of a simulated call. */
interface Simulated {
  readonly seconds: number
  /** The agent's words. */
  readonly words: string
}

const account = 'conformance'
const calls = new Map<string, Simulated & { readonly placed: number }>()

/** The current state of a call in the platform's form. */
function detailOf(id: string): CallDetail | undefined {
  const call = calls.get(id)
  if (!call) return undefined
  const { placed, seconds, words } = call
  const end = placed + seconds * 1000
  const isOver = Date.now() >= end
  return {
    id,
    type: 'phone',
    status: isOver ? 'completed' : 'in_progress',
    answer_status: 'human',
    created: new Date(placed).toISOString(),
    ended_at: isOver ? new Date(end).toISOString() : null,
    messages: [{ role: 'agent', message: words }],
  }
}

/** A simulated platform with one operation: reading a call. */
const client = createClient({
  apiKey: 'conformance',
  userAgent: 'conformance',
  send: async ({ target }) => {
    const call = detailOf(target.replace(`/v1/accounts/${account}/calls/`, ''))
    return {
      status: call ? 200 : 404,
      header: (name) => (name === 'content-type' ? 'application/json' : undefined),
      body: JSON.stringify(call ?? { detail: 'Not found' }),
    }
  },
})

const session = sessionOf(client)
const followedCalls = callTasks({
  session,
  tools,
  cancelledTasks: createCancelledTasks({
    records: createSqliteRecords(':memory:', '--state-dir'),
    broadcast: createLocalBroadcast(),
  }),
  callTaskView,
  onBug: (error) => process.stderr.write(`${error}\n`),
})

const sourceOf = (taskId: string): TaskSource => (isJob(taskId) ? jobTasks : followedCalls)

/** Registers the task methods of the real server. */
export function registerTaskMethods({ server }: McpServer): void {
  serveTasks(server, {
    get: (taskId, signal) => sourceOf(taskId).get(taskId, signal),
    cancel: (taskId, signal) => sourceOf(taskId).cancel(taskId, signal),
    answer: (taskId, responses, signal) => sourceOf(taskId).answer(taskId, responses, signal),
  })
}

/** Places a call. Returns a task to clients with tasks, to others the ended call. */
async function follow(
  simulated: Simulated,
  { server }: McpServer,
  context: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const id = randomUUID()
  calls.set(id, { ...simulated, placed: Date.now() })
  const outcome = await placedCallOutcome(
    {
      request: { params: { account_id: account }, query: {} },
      options: { follow: true },
      session,
      signal: context.mcpReq.signal,
      answerBy: Number.POSITIVE_INFINITY,
      progress: () => undefined,
      takesTasks: clientFeaturesOf(server, context).takesTasks,
    },
    { call: { id }, externalId: id, isRepeat: false, isAccepted: true },
  )
  if (outcome.task) return createTaskResult(outcome.task)
  const { structured, lines = [] } = outcome
  return { content: [{ type: 'text', text: safeLines(lines) }], structuredContent: structured }
}

const Name = z.object({ name: z.string() })

export function registerTaskTools(server: McpServer): void {
  server.registerTool('greet', { description: 'No task', inputSchema: Name }, ({ name }) => ({
    content: [{ type: 'text', text: `Hello, ${name}!` }],
  }))
  server.registerTool(
    'slow_compute',
    {
      description: 'A call that lasts so long',
      inputSchema: z.object({ seconds: z.number(), label: z.string().optional() }),
    },
    ({ seconds, label = '' }, context) => follow({ seconds, words: label }, server, context),
  )
  server.registerTool(
    'test_tool_with_task',
    { description: 'Asks the client, then places a call' },
    (context) => {
      const answer = acceptedContent(context.mcpReq.inputResponses, 'user_name', Name)
      if (answer) {
        const words = `Hello, ${answer.name}!`
        return follow({ seconds: 1, words }, server, context)
      }
      const message = 'What is your name?'
      const user_name = inputRequired.elicit({ message, requestedSchema: Name })
      return inputRequired({ inputRequests: { user_name } })
    },
  )
}
