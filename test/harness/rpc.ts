import * as z from 'zod'
import { clientMeta, mcpHttpRequest } from './mcp-request.ts'

const Answer = z.looseObject({
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})

export interface RpcOptions {
  /** The capabilities that the client declares. */
  readonly capabilities?: object
  readonly key?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

let id = 0

/** Sends a request of revision 2026-07-28 over HTTP. */
export async function rpc(
  url: string,
  method: string,
  params: Record<string, unknown>,
  { capabilities = {}, key = 'sandbox-key', headers = {}, signal }: RpcOptions = {},
) {
  const request = mcpHttpRequest(method, params, { id: ++id, key, meta: clientMeta(capabilities) })
  const response = await fetch(url, {
    ...request,
    headers: { ...request.headers, ...headers },
    ...(signal && { signal }),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data:') + 5)
  const { result = {}, error } = Answer.parse(JSON.parse(json))
  return { result, error }
}

/**
 * Sends a request without the metadata that its revision requires, which is refused and logged.
 * Returns the status.
 */
export async function sendRefused(url: string): Promise<number> {
  const { method, headers } = mcpHttpRequest('tools/list')
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
  const response = await fetch(url, { method, headers, body })
  await response.text()
  return response.status
}
