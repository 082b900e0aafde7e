import {
  completable,
  McpServer,
  type McpServerFactory,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { capabilitiesOf } from '../../src/mcp/server-info.ts'
import {
  registerAsking2025,
  registerLogging2025,
  registerSubscriptions2025,
} from './fixture-2025.ts'
import { registerAsking, stateCodec } from './fixture-input-requests.ts'
import { refuseJobsWithoutTasks, registerJobTools } from './fixture-job-tasks.ts'
import { registerTaskMethods, registerTaskTools } from './fixture-tasks.ts'
import { png, registerTools } from './fixture-tools.ts'

/** Capability of lists that never change. */
const never = { listChanged: false }

const hint = { ttlMs: 1000, cacheScope: 'private' } as const

/**
 * MCP server with the tools, resources, prompts and capabilities that the official conformance
 * suite requires.
 */
export const factory: McpServerFactory = ({ era: protocol, requestInfo }) => {
  const isModern = protocol === 'modern'
  // HTTP of the 2025 revisions is stateless here, so only stdio connections can subscribe.
  const isConnection2025 = !isModern && requestInfo === undefined
  const server = new McpServer(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        resources: { ...never, ...(isConnection2025 && { subscribe: true }) },
        prompts: never,
        completions: {},
        ...(!isModern && { logging: {} }),
        ...(isModern && { extensions: capabilitiesOf.modern.extensions }),
      },
      requestState: { verify: stateCodec.verify },
      cacheHints: {
        'tools/list': hint,
        'prompts/list': hint,
        'resources/list': hint,
        'resources/templates/list': hint,
        'resources/read': hint,
        'server/discover': hint,
      },
    },
  )
  // The tools capability is not given to the constructor, because McpServer would then set its tool
  // handlers before `refuseJobsWithoutTasks` can wrap them.
  server.server.registerCapabilities({ tools: never })
  refuseJobsWithoutTasks(server)
  registerTools(server)
  registerAsking(server)
  registerResources(server)
  registerPrompts(server)
  registerTaskTools(server)
  registerJobTools(server)
  if (isModern) registerTaskMethods(server)
  else {
    registerAsking2025(server)
    registerLogging2025(server)
  }
  if (isConnection2025) registerSubscriptions2025(server)
  return server
}

function registerResources(server: McpServer): void {
  const add = (
    uri: string,
    content: { mimeType: string; text: string } | { mimeType: string; blob: string },
  ) =>
    server.registerResource(
      uri.slice('test://'.length),
      uri,
      { description: 'A resource of the suite.', mimeType: content.mimeType },
      () => ({ contents: [{ uri, ...content }] }),
    )
  add('test://static-text', {
    mimeType: 'text/plain',
    text: 'This is the content of the static text resource.',
  })
  add('test://static-binary', { mimeType: 'image/png', blob: png })
  add('test://watched-resource', { mimeType: 'text/plain', text: 'Watched.' })
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'A resource for each id.', mimeType: 'application/json' },
    (uri, { id }) => {
      if (typeof id !== 'string') throw new ResourceNotFoundError(uri.href)
      const content = { id, templateTest: true, data: `Data for ID: ${id}` }
      const text = JSON.stringify(content)
      return { contents: [{ uri: uri.href, mimeType: 'application/json', text }] }
    },
  )
}

const message = (text: string) => ({
  role: 'user' as const,
  content: { type: 'text' as const, text },
})

function registerPrompts(server: McpServer): void {
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, () => ({
    messages: [message('This is a simple prompt for testing.')],
  }))
  const word = completable(z.string(), (typed) =>
    ['paris', 'park', 'party'].filter((one) => one.startsWith(typed)),
  )
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: word, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({
      messages: [message(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    }),
  )
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) => {
      const text = 'Embedded resource content for testing.'
      const resource = { uri, mimeType: 'text/plain', text }
      return {
        messages: [
          { role: 'user', content: { type: 'resource', resource } },
          message('Please process the embedded resource above.'),
        ],
      }
    },
  )
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, () => ({
    messages: [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      message('Please analyze the image above.'),
    ],
  }))
}
