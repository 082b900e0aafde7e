import type { ServerResponse } from 'node:http'
import * as z from 'zod'
import { errorForClient } from '../../mcp/errors.ts'
import { errorResponse } from '../../mcp/messages.ts'
import { messageText } from '../../text/safe-text.ts'

/** Refuses an HTTP request with a JSON-RPC error without an id. */
export function refuse(
  response: ServerResponse,
  status: 400 | 401 | 403 | 408 | 413 | 429 | 500 | 503,
  message: string,
): void {
  if (status === 503 && !response.hasHeader('retry-after')) response.setHeader('retry-after', '1')
  // RFC 9110 §11.6.1: a 401 needs WWW-Authenticate.
  if (status === 401 && !response.hasHeader('www-authenticate'))
    response.setHeader('www-authenticate', 'Bearer realm="voice-agent-mcp"')
  sendJson(response, status, errorResponse(null, { code: -32000, message: messageText(message) }))
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendParts(response, [JSON.stringify(body)], status)
}

/** Sends JSON in parts, without concatenating them, because large responses are frequent. */
export function sendParts(
  response: ServerResponse,
  parts: readonly (string | Buffer)[],
  status = 200,
): void {
  let length = 0
  for (const part of parts) length += Buffer.byteLength(part)
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length })
  response.cork()
  for (const part of parts.slice(0, -1)) response.write(part)
  response.end(parts.at(-1))
}

/** Refuses a method. RFC 9110 §15.5.6: a 405 needs Allow. */
export function refuseMethod(response: ServerResponse, allowed: string): void {
  response.setHeader('allow', allowed)
  sendJson(response, 405, { error: `Use ${allowed.split(', ')[0]}.` })
}

const SdkRefusal = z.looseObject({
  error: z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() }),
})

/** Rewrites the error message of the MCP SDK's refusals. Other responses are unchanged. */
export async function responseForClient(response: Response): Promise<Response> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.includes('application/json')
  if (status < 400 || !isJson) return response
  const { error, ...rest } = SdkRefusal.parse(await response.json())
  const body = { ...rest, error: errorForClient(error, undefined) }
  return new Response(JSON.stringify(body), { status, headers })
}
