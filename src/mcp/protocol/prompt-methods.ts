import type { Server } from '@modelcontextprotocol/server'
import { complete } from './completions.ts'
import { refuseCursor } from './cursor.ts'
import { getPrompt, listPrompts, type PromptContext } from './prompts.ts'

/** `prompts/list`, `prompts/get` and `completion/complete`. */
export function servePrompts(server: Server, context: PromptContext): void {
  server.setRequestHandler('prompts/list', ({ params }) => {
    refuseCursor(params)
    return listPrompts(context)
  })
  server.setRequestHandler('prompts/get', ({ params }, { mcpReq: { signal } }) =>
    getPrompt(context, params.name, params.arguments, signal),
  )
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
    complete(context, params, signal),
  )
}
