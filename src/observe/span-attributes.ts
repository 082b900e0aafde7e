import type { Attributes } from '@opentelemetry/api'
import type { BeginningRequest, BeginningTry, PlatformTry, RequestOutcome } from './records.ts'

/*
 * Names and attributes of spans, by the semantic conventions. No argument, no result, no address of a
 * resource and no path with ids: they are about customers.
 */

/** `{mcp.method.name} {target}`, such as `tools/call get_agent`. */
export const nameOf = ({ method, target }: BeginningRequest): string =>
  target ? `${method} ${target.name}` : method

/** The attributes of the span of a request of a client. */
export function attributesOf(request: BeginningRequest): Attributes {
  const { method, target, transport, id, revision, session } = request
  return {
    'mcp.method.name': method,
    ...(target && { [`gen_ai.${target.kind}.name`]: target.name }),
    ...(method === 'tools/call' && { 'gen_ai.operation.name': 'execute_tool' }),
    ...(id !== undefined && { 'jsonrpc.request.id': clientId(id) }),
    ...(revision !== undefined && { 'mcp.protocol.version': clientId(revision) }),
    ...(session !== undefined && { 'mcp.session.id': clientId(session) }),
    'network.transport': transport === 'stdio' ? 'pipe' : 'tcp',
    ...(transport === 'http' && { 'network.protocol.name': 'http' }),
  }
}

/** An id that the client chose, of a length that is one. */
const clientId = (id: string | number) => String(id).slice(0, 128)

/** Codes of JSON-RPC errors that are the server's fault: −32603, and −32000 to −32099. */
const isServerFault = (code: number) => code === -32603 || (code <= -32000 && code >= -32099)

/** Outcomes of tool calls that are no errors, see mcp/protocol/call-outcome.ts. */
const isNoError = (outcome: string) => /^(ok|input_required|task|confirmation_\w+)$/.test(outcome)

/** What a span has of how a request ended. */
export function failureOf({ outcome, code }: RequestOutcome) {
  const attributes = {
    'voice_agent_mcp.outcome': outcome,
    ...(code !== undefined && { 'rpc.response.status_code': String(code) }),
  }
  if (code !== undefined)
    return { attributes, error: isServerFault(code) ? String(code) : undefined }
  return { attributes, error: isNoError(outcome) ? undefined : 'tool_error' }
}

/** The attributes of the span of a request to the platform. */
export function tryAttributes({ operation, method, path, resends, platform }: BeginningTry) {
  const url = URL.parse(platform)
  return {
    'http.request.method': method,
    'url.template': path,
    'voice_agent_mcp.operation': operation,
    'server.address': url?.hostname ?? platform,
    ...(url && { 'server.port': portOf(url), 'url.scheme': url.protocol.slice(0, -1) }),
    ...(resends > 0 && { 'http.request.resend_count': resends }),
  } satisfies Attributes
}

const portOf = ({ port, protocol }: URL) =>
  port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port)

/** What a span has of how a request to the platform ended. */
export function tryFailure({ status, requestId, failure }: PlatformTry) {
  const attributes = {
    ...(status !== undefined && { 'http.response.status_code': status }),
    ...(requestId !== undefined && { 'http.response.header.x-request-id': [requestId] }),
  }
  const isStatus = status !== undefined && (failure === undefined || failure === 'rejected')
  const error = isStatus ? (status >= 400 ? String(status) : undefined) : failure
  return { attributes, error }
}
