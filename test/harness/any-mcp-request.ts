import fc from 'fast-check'
import { viewExtension, viewMimeType, viewUri } from '../../src/apps/views.ts'
import { headerNames, modernVersion } from '../../src/mcp/messages.ts'
import { clientMeta } from './mcp-request.ts'
import { seedIds } from './sandbox.ts'

/** A POST to /mcp: its headers and the message in its body. */
export interface McpRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly message: unknown
}

type Params = Readonly<Record<string, unknown>>
type MethodAndParams = readonly [method: string, params: Params]

const accept = 'application/json, text/event-stream'

const modernMeta = clientMeta({})

/** A request of revision 2026-07-28. */
export function modernRequest(method: string, params: Params = {}): McpRequest {
  const name = params.name ?? params.uri
  return {
    headers: {
      accept,
      [headerNames.protocolVersion]: modernVersion,
      [headerNames.method]: method,
      ...(typeof name === 'string' && { [headerNames.name]: name }),
    },
    message: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: modernMeta } },
  }
}

/** A request of revision 2026-07-28 from a client that declares support for views. */
export const viewRequest = (method: string, params: Params = {}): McpRequest => {
  const { headers, message } = modernRequest(method, params)
  const meta = clientMeta({ extensions: { [viewExtension]: { mimeTypes: [viewMimeType] } } })
  return { headers, message: { ...Object(message), params: { ...params, _meta: meta } } }
}

/** A request of the 2025 revisions. */
export const legacyRequest = (method: string, params: Params = {}): McpRequest => ({
  headers: { accept, [headerNames.protocolVersion]: '2025-06-18' },
  message: { jsonrpc: '2.0', id: 'seven', method, params },
})

/** A request of the 2025 revisions from a client with views, as its session id declares. */
export const legacyViewRequest = (method: string, params: Params = {}): McpRequest => {
  const { headers, message } = legacyRequest(method, params)
  return { headers: { ...headers, [headerNames.session]: 'views-of-a-test' }, message }
}

const agent_id = seedIds.supportAgent

/** Requests that the HTTP fast path answers. */
export const ordinaryRequests: readonly MethodAndParams[] = [
  ['tools/list', {}],
  ['tools/call', { name: 'list_agents', arguments: { limit: 2 } }],
  ['tools/call', { name: 'get_current_account' }],
  ['tools/call', { name: 'get_agent', arguments: { agent_id } }],
  ['tools/call', { name: 'get_agent', arguments: { agent_id: 'nobody' } }],
  ['tools/call', { name: 'get_agent', arguments: { agnt: 1 } }],
  ['tools/call', { name: 'validate_agent_template', arguments: { template: '{{ a' } }],
  ['resources/read', { uri: 'voice-agents://catalog/models' }],
  ['resources/read', { uri: 'voice-agents://account' }],
  ['resources/read', { uri: 'voice-agents://catalog/voices/nobody' }],
  ['resources/read', { uri: 'voice-agents://nothing' }],
  ['resources/read', { uri: viewUri('usage') }],
  ['resources/read', { uri: 'skill://report-usage/SKILL.md' }],
]

/** Requests that the HTTP fast path does not answer. None changes data or opens a stream. */
const otherRequests: readonly MethodAndParams[] = [
  [
    'initialize',
    {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  ],
  ['notifications/initialized', {}],
  ['notifications/cancelled', { requestId: 7 }],
  ['ping', {}],
  ['server/discover', {}],
  ['tools/list', { cursor: 'x' }],
  ['tools/call', { name: 'archive_agent', arguments: { agent_id } }],
  ['tools/call', { name: 'get_agnt' }],
  ['tools/call', { name: 'list_agents', inputResponses: {} }],
  ['tools/call', { name: 'get_call', arguments: { call_id: 'x' } }],
  ['resources/list', {}],
  ['resources/list', { cursor: '0' }],
  ['resources/templates/list', {}],
  ['resources/subscribe', { uri: 'voice-agents://account' }],
  ['skills/list', {}],
  ['skills/get', { uri: 'skill://report-usage/SKILL.md' }],
  ['skills/get', { uri: 'skill://nothing/SKILL.md' }],
  ['prompts/list', {}],
  ['prompts/get', { name: 'review_agent', arguments: { agent_id } }],
  ['prompts/get', { name: 'nothing' }],
  [
    'completion/complete',
    {
      ref: { type: 'ref/prompt', name: 'review_agent' },
      argument: { name: 'agent_id', value: 'a' },
    },
  ],
  ['tasks/get', { taskId: 'x' }],
  ['logging/setLevel', { level: 'info' }],
  ['tools/nothing', {}],
]

/** Values of a wrong type, or that are valid elsewhere in a request. */
const oddValue = fc.oneof(
  fc.constantFrom<unknown>(null, 1, 1.5, 2 ** 53, true, '', 'x', [], {}, { x: 1 }),
  fc.constantFrom('2025-03-26', '2025-11-25', modernVersion, 'tools/list', 'get_agent'),
  fc.constantFrom<unknown>(
    { name: 'x' },
    { name: 'x', version: '1', title: 5 },
    { name: 'x', version: '1', icons: [{ src: 'x' }] },
    { elicitation: 1 },
    { elicitation: {} },
    { roots: { listChanged: true }, anything: 1 },
    { tasks: { list: 1 } },
  ),
)

const reserved = 'io.modelcontextprotocol'
const places: readonly (readonly string[])[] = [
  ['jsonrpc'],
  ['id'],
  ['method'],
  ['extra'],
  ['params'],
  ['params', 'name'],
  ['params', 'arguments'],
  ['params', 'arguments', 'agent_id'],
  ['params', 'uri'],
  ['params', 'task'],
  ['params', 'cursor'],
  ['params', '_meta'],
  ...[...Object.keys(modernMeta), 'progressToken', 'anything'].map((key) => [
    'params',
    '_meta',
    key,
  ]),
  ...['related-task', 'logLevel', 'x'].map((key) => ['params', '_meta', `${reserved}/${key}`]),
]

const messageChange = fc.tuple(
  fc.constantFrom(...places).map((path) => ['message', ...path]),
  fc.option(oddValue, { nil: undefined }),
)

const headerChange = fc.tuple(
  fc
    .constantFrom('accept', 'user-agent', ...Object.values(headerNames))
    .map((name) => ['headers', name]),
  fc.option(
    fc.constantFrom('', 'x', '2025-03-26', '2025-06-18', modernVersion, 'tools/list', '*/*'),
    { nil: undefined },
  ),
)

const exposureChange = fc.tuple(
  fc
    .constantFrom('x-mcp-toolsets', 'x-mcp-tools', 'x-mcp-exclude-tools', 'x-mcp-read-only')
    .map((name) => ['headers', name]),
  fc.constantFrom('agents', 'get_agent', 'nothing', 'true', ''),
)

/** Arbitrary requests of all methods and revisions, some with changed fields or headers. */
export const anyRequest: fc.Arbitrary<McpRequest> = fc
  .record({
    create: fc.constantFrom(modernRequest, legacyRequest, viewRequest, legacyViewRequest),
    request: fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...ordinaryRequests) },
      { weight: 1, arbitrary: fc.constantFrom(...otherRequests) },
    ),
    changes: fc.array(
      fc.oneof(
        { weight: 6, arbitrary: messageChange },
        { weight: 3, arbitrary: headerChange },
        { weight: 1, arbitrary: exposureChange },
      ),
      { maxLength: 3 },
    ),
  })
  .map(({ create, request: [method, params], changes }) => {
    const request = structuredClone(create(method, params))
    for (const [path, value] of changes) put(request, path, structuredClone(value))
    return request
  })

/** Sets the value at a path; removes it if the value is undefined. */
function put(target: unknown, [key, ...rest]: readonly string[], value: unknown): void {
  if (key === undefined || typeof target !== 'object' || target === null) return
  const holder = target as Record<string, unknown>
  if (rest.length > 0) put(holder[key], rest, value)
  else if (value === undefined) delete holder[key]
  else holder[key] = value
}
