import * as z from 'zod'

const Answer = z.looseObject({
  result: z.record(z.string(), z.unknown()).optional(),
  error: z.looseObject({ code: z.number(), message: z.string() }).optional(),
})

interface Asking {
  /** What the client declares to be able to do. */
  readonly capabilities?: object
  readonly key?: string
  readonly signal?: AbortSignal
}

/** What a request of that revision says of its client. */
export const metaOf = (capabilities: object) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': capabilities,
})

let id = 0

/** One request of the 2026-07-28 revision over HTTP, as it stands on the wire. */
export async function rpc(
  url: string,
  method: string,
  params: Record<string, unknown>,
  { capabilities = {}, key = 'sandbox-key', signal }: Asking = {},
) {
  const _meta = metaOf(capabilities)
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      'mcp-name': String(params.name ?? params.taskId),
      'x-api-key': key,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params: { ...params, _meta } }),
    ...(signal && { signal }),
  })
  const text = await response.text()
  const json = text.startsWith('{') ? text : text.slice(text.lastIndexOf('data:') + 5)
  const { result = {}, error } = Answer.parse(JSON.parse(json))
  return { result, error }
}
