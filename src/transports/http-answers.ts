import type { ServerResponse } from 'node:http'
import * as z from 'zod'
import { errorForClient } from '../mcp/protocol/protocol-error.ts'
import { messageText } from '../text/client-text.ts'

/** Refuses a request with a JSON-RPC error that answers none in particular. */
export function refuse(
  response: ServerResponse,
  status: 400 | 401 | 403 | 408 | 413 | 429 | 500 | 503,
  message: string,
  code = -32000,
): void {
  if (status === 503 && !response.hasHeader('retry-after')) response.setHeader('retry-after', '1')
  // RFC 9110 §11.6.1: a 401 names how to authenticate.
  if (status === 401) response.setHeader('www-authenticate', 'Bearer realm="voice-agent-mcp"')
  sendJson(response, status, {
    jsonrpc: '2.0',
    id: null,
    error: { code, message: messageText(message) },
  })
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, JSON.stringify(body), status)
}

export function sendText(response: ServerResponse, text: string | Buffer, status = 200): void {
  const length = Buffer.byteLength(text)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length })
  response.end(text)
}

/** A method that the address does not have. RFC 9110 §15.5.6: a 405 names those that it has. */
export function refuseMethod(response: ServerResponse, allowed: string): void {
  response.setHeader('allow', allowed)
  sendJson(response, 405, { error: `Use ${allowed.split(', ')[0]}.` })
}

const Refusal = z.looseObject({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
})

/** What the SDK refuses by itself, told as this server tells all errors. */
export async function responseForClient(response: Response): Promise<Response> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.includes('application/json')
  if (status < 400 || !isJson) return response
  const { error, ...rest } = Refusal.parse(await response.json())
  const said = { ...rest, error: errorForClient(error, undefined) }
  return new Response(JSON.stringify(said), { status, headers })
}
