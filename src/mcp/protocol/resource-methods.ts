import type { Server } from '@modelcontextprotocol/server'
import { refuseCursor } from './cursor.ts'
import { resourceTemplates } from './resource-catalogue.ts'
import { listResources, type ReadContext, readResource } from './resources.ts'
import type { ServedRequest } from './served-request.ts'
import { showsViews } from './view-clients.ts'

/** `resources/list`, `resources/templates/list` and `resources/read`. */
export function serveResources(server: Server, request: ServedRequest, context: ReadContext): void {
  server.setRequestHandler('resources/list', ({ params }, requestContext) =>
    listResources(context, {
      cursor: params?.cursor,
      views: showsViews(server, requestContext, request),
      signal: requestContext.mcpReq.signal,
    }),
  )
  server.setRequestHandler('resources/templates/list', ({ params }) => {
    refuseCursor(params)
    return { resourceTemplates: resourceTemplates(context.session) }
  })
  server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
    readResource(context, params.uri, signal),
  )
}
