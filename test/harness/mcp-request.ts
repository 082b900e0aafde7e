const prefix = 'io.modelcontextprotocol'

/**
 * `params._meta` of a request of revision 2026-07-28: protocol version, client and capabilities.
 */
export const clientMeta = (capabilities: object, name = 'test') => ({
  [`${prefix}/protocolVersion`]: '2026-07-28',
  [`${prefix}/clientInfo`]: { name, version: '1' },
  [`${prefix}/clientCapabilities`]: capabilities,
})

/** A request of revision 2026-07-28 over HTTP: method, headers and body. */
export function mcpHttpRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { id = 1, key, meta = clientMeta({}) }: { id?: number; key?: string; meta?: object } = {},
) {
  const name = params.name ?? params.uri ?? params.taskId
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...(key !== undefined && { 'x-api-key': key }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  } as const
}
