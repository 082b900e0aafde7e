import type { ServerResponse } from 'node:http'
import type { PageModel } from './models.ts'
import { renderPage } from './render.ts'

export function sendPage(response: ServerResponse, model: PageModel): void {
  const { status, headers, body } = renderPage(model)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}
