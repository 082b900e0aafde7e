import type { JSONRPCErrorResponse } from '@modelcontextprotocol/server'
import * as z from 'zod'

/*
 * JSON-RPC 2.0 messages. The stdio handshake needs them before the SDK is loaded, so only types of
 * it are imported here.
 */

/** Numbers are safe integers: larger ones may lose digits when JSON is parsed. */
export const RequestId = z.union([z.string(), z.int()])
export type RequestId = z.output<typeof RequestId>

/** An error response; `id` is null where the id of the request is not known. */
export function errorResponse(
  id: RequestId | null,
  error: JSONRPCErrorResponse['error'],
): JSONRPCErrorResponse {
  // JSON-RPC 2.0 §5 requires null; the SDK's type does not have it.
  return { jsonrpc: '2.0', id: id as RequestId, error }
}

/** The text of a result response around the JSON text of the result, with the SDK's order of members. */
export const resultResponseParts = (id: RequestId): readonly [before: string, after: string] => [
  '{"result":',
  `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`,
]

/** A result response as JSON text; `result` is JSON text. */
export function resultResponse(id: RequestId, result: string): string {
  const [before, after] = resultResponseParts(id)
  return before + result + after
}
