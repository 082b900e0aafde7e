import type { Server } from '@modelcontextprotocol/server'
import { refuseCursor } from './cursor.ts'
import { resourceTemplates } from './resource-catalogue.ts'
import { listResources, type ReadContext, readResource } from './resources.ts'

/** `resources/list`, `resources/templates/list` and `resources/read`. */
export function serveResources(server: Server, context: ReadContext): void {
  server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
    listResources(context, params?.cursor, signal),
  )
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    refuseCursor(params)
    return { resourceTemplates: resourceTemplates(context.session) }
  })
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
    readResource(context, params.uri, signal),
  )
}
