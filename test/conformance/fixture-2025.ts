import { setTimeout as sleep } from 'node:timers/promises'
import type { ElicitRequestFormParams, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'

/*
 * Features of the 2025 revisions only: server requests while a tool runs, log messages at a level
 * that the client sets, and subscriptions to single resources.
 */

const done = (text: string) => ({ content: [{ type: 'text' as const, text }] })

type RequestedSchema = ElicitRequestFormParams['requestedSchema']

const defaults: RequestedSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
}

const titled = [
  { const: 'value1', title: 'First' },
  { const: 'value2', title: 'Second' },
  { const: 'value3', title: 'Third' },
]

const enums: RequestedSchema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: {
      type: 'array',
      items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
}

const answer: RequestedSchema = {
  type: 'object',
  properties: { username: { type: 'string' }, email: { type: 'string' } },
  required: ['username', 'email'],
}

/** Registers tools that ask the client or its model while they run. */
export function registerAsking2025(server: McpServer): void {
  const elicit = (name: string, requestedSchema: RequestedSchema) =>
    server.registerTool(
      name,
      {
        description: 'Asks the client.',
        inputSchema: z.object({ message: z.string().default('Please answer') }),
      },
      async ({ message }, { mcpReq }) => {
        const { action, content } = await mcpReq.elicitInput({ message, requestedSchema })
        return done(`The client answered: ${action}, ${JSON.stringify(content)}`)
      },
    )
  elicit('test_elicitation', answer)
  elicit('test_elicitation_sep1034_defaults', defaults)
  elicit('test_elicitation_sep1330_enums', enums)
  server.registerTool(
    'test_sampling',
    { description: 'Asks the model.', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt: text }, { mcpReq }) => {
      const { content } = await mcpReq.requestSampling({
        messages: [{ role: 'user', content: { type: 'text', text } }],
        maxTokens: 100,
      })
      return done(`The model answered: ${JSON.stringify(content)}`)
    },
  )
}

/** Registers a tool that logs while it runs. */
export function registerLogging2025(server: McpServer): void {
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'Tool execution started')
    await sleep(50)
    await mcpReq.log('info', 'Tool processing data')
    await sleep(50)
    await mcpReq.log('info', 'Tool execution completed')
    return done('Done.')
  })
}

/** Registers subscriptions of a connection. No resource changes, so no update is sent. */
export function registerSubscriptions2025({ server }: McpServer): void {
  const watched = new Set<string>()
  server.setRequestHandler('resources/subscribe', ({ params: { uri } }) => {
    watched.add(uri)
    return {}
  })
  server.setRequestHandler('resources/unsubscribe', ({ params: { uri } }) => {
    watched.delete(uri)
    return {}
  })
}
