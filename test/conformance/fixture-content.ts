import {
  completable,
  type McpServer,
  ResourceNotFoundError,
  ResourceTemplate,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { png } from './fixture-tools.ts'

export function registerResources(server: McpServer): void {
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

export function registerPrompts(server: McpServer): void {
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
