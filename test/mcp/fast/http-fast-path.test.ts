import { createMcpHandler } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createClient } from '../../../src/api/client.ts'
import { callTaskView } from '../../../src/flows/calls/wait-for-call.ts'
import { createMcpService, type McpService } from '../../../src/mcp/mcp-service.ts'
import { everyTool } from '../../../src/mcp/protocol/exposure.ts'
import { createRequestExposure } from '../../../src/mcp/protocol/request-exposure.ts'
import { prompts } from '../../../src/prompts/index.ts'
import { openPlatform, type Platform } from '../../../src/service/platform.ts'
import { createMemoryUsedSeals } from '../../../src/state/memory/memory-used-seals.ts'
import { tools } from '../../../tools/index.ts'
import { tries } from '../../harness/property.ts'
import { seedIds } from '../../harness/sandbox.ts'
import { sessionOf } from '../../harness/session.ts'

const bugs: unknown[] = []
let platform: Platform
let service: McpService
let handler: ReturnType<typeof createMcpHandler>

beforeAll(async () => {
  platform = await openPlatform(
    { kind: 'sandbox', file: ':memory:', speed: 1, llm: undefined },
    console.error,
  )
  const client = createClient({ send: platform.send, apiKey: 'sandbox-key', userAgent: 'test' })
  const session = sessionOf(client)
  service = createMcpService({
    exposureFor: createRequestExposure(everyTool(tools)),
    prompts,
    version: '1.2.3',
    isSandbox: true,
    account: undefined,
    sessionFor: () => session,
    callTaskView,
    confirm: 'auto',
    usedSeals: createMemoryUsedSeals(),
    onBug: (error) => void bugs.push(error),
  })
  handler = createMcpHandler(service.factory)
})
afterAll(() => platform.close())

interface Asked {
  readonly headers: Readonly<Record<string, string>>
  readonly message: unknown
}

/** What is said the short way; `undefined`: nothing. */
async function shortly({ headers, message }: Asked): Promise<unknown> {
  const answer = await service.httpFastPath(message, {
    header: (name) => headers[name],
    credential: undefined,
    signal: () => new AbortController().signal,
  })
  return answer === undefined ? undefined : JSON.parse(answer.join(''))
}

/** What the SDK says to the same; `undefined`: it refuses. */
async function atLength({ headers, message }: Asked): Promise<unknown> {
  const body = JSON.stringify(message)
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const response = await handler.fetch(new Request('http://127.0.0.1/mcp', init))
  const text = await response.text()
  if (response.status !== 200) return undefined
  const [, data] = /^data: (.+)$/m.exec(text) ?? [undefined, text]
  return JSON.parse(data)
}

const accept = 'application/json, text/event-stream'
const prefix = 'io.modelcontextprotocol'
const envelope = {
  [`${prefix}/protocolVersion`]: '2026-07-28',
  [`${prefix}/clientInfo`]: { name: 'test', version: '1' },
  [`${prefix}/clientCapabilities`]: {},
}

function modern(method: string, params: Record<string, unknown> = {}): Asked {
  const name = params.name ?? params.uri
  return {
    headers: {
      accept,
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
    },
    message: { jsonrpc: '2.0', id: 7, method, params: { ...params, _meta: envelope } },
  }
}

const legacy = (method: string, params: Record<string, unknown> = {}): Asked => ({
  headers: { accept, 'mcp-protocol-version': '2025-06-18' },
  message: { jsonrpc: '2.0', id: 'seven', method, params },
})

const agent_id = seedIds.supportAgent
const requests: readonly [method: string, params: Record<string, unknown>][] = [
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
]

describe.each([
  ['2026-07-28', modern],
  ['2025', legacy],
])('a request of %s', (_, ask) => {
  test.each(requests)('%s %j is answered shortly, as it is at length', async (method, params) => {
    const asked = ask(method, params)
    const said = await shortly(asked)
    expect(said).toBeDefined()
    expect(said).toEqual(await atLength(asked))
  })

  test.each([
    ['of a tool that may ask', 'tools/call', { name: 'delete_agent', arguments: { agent_id } }],
    ['of a tool that is none', 'tools/call', { name: 'get_agnt' }],
    ['of another method', 'resources/list', {}],
    ['of a page', 'tools/list', { cursor: 'x' }],
    ['that answers a question', 'tools/call', { name: 'list_agents', inputResponses: {} }],
    ['without a name', 'tools/call', {}],
  ])('%s goes the long way', async (_, method, params) => {
    expect(await shortly(ask(method, params))).toBeUndefined()
  })

  test('that wants to hear of progress is answered shortly where there is none to hear of', async () => {
    const withToken = ({ headers, message }: Asked) => {
      const { params, ...rest } = message as { params: { _meta?: object } }
      return {
        headers,
        message: { ...rest, params: { ...params, _meta: { ...params._meta, progressToken: 1 } } },
      }
    }
    const none = withToken(ask('tools/call', { name: 'get_agent', arguments: { agent_id } }))
    expect(await shortly(none)).toEqual(await atLength(none))
    const some = ask('tools/call', { name: 'wait_for_call', arguments: { call_id: 'x' } })
    expect(await shortly(some)).toEqual(await atLength(some))
    expect(await shortly(withToken(some))).toBeUndefined()
  })
})

/** Values that may stand where others are expected. */
const odd = fc.oneof(
  fc.constantFrom(null, 1, 1.5, true, '', 'x', [], {}, '2025-11-25', '2026-07-28', 'get_agent'),
  fc.constantFrom({ name: 'x' }, { name: 'x', version: '1', title: 5 }, { elicitation: 1 }),
)

const oddPlaces: readonly string[][] = [
  ['message', 'jsonrpc'],
  ['message', 'id'],
  ['message', 'method'],
  ['message', 'extra'],
  ['message', 'params'],
  ['message', 'params', 'name'],
  ['message', 'params', 'arguments'],
  ['message', 'params', 'uri'],
  ['message', 'params', 'task'],
  ['message', 'params', '_meta'],
  ...Object.keys(envelope).map((key) => ['message', 'params', '_meta', key]),
  ['message', 'params', '_meta', 'progressToken'],
  ['message', 'params', '_meta', 'anything'],
  ['message', 'params', '_meta', `${prefix}/related-task`],
  ['message', 'params', '_meta', `${prefix}/logLevel`],
]
const oddHeaders = ['accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name', 'mcp-session-id']

function put(target: unknown, path: readonly string[], value: unknown): void {
  const [key, ...rest] = path
  if (key === undefined || typeof target !== 'object' || target === null) return
  const holder = target as Record<string, unknown>
  if (rest.length > 0) put(holder[key], rest, value)
  else if (value === undefined) delete holder[key]
  else holder[key] = value
}

test('whatever is odd about a request, what is said shortly is what is said at length', async () => {
  const change = fc.oneof(
    fc.tuple(fc.constantFrom(...oddPlaces), fc.option(odd, { nil: undefined })),
    fc.tuple(
      fc.constantFrom(...oddHeaders).map((name) => ['headers', name]),
      fc.option(fc.constantFrom('', 'x', '2025-06-18', '2026-07-28', 'tools/list', '*/*'), {
        nil: undefined,
      }),
    ),
  )
  const asked = fc
    .record({
      ask: fc.constantFrom(modern, legacy),
      request: fc.constantFrom(...requests.filter(([, { uri }]) => !/models/.test(String(uri)))),
      changes: fc.array(change, { maxLength: 2 }),
    })
    .map(({ ask, request: [method, params], changes }) => {
      const made = structuredClone(ask(method, params))
      for (const [path, value] of changes) put(made, path, structuredClone(value))
      return made
    })
  let shortOnes = 0
  await fc.assert(
    fc.asyncProperty(asked, async (one) => {
      const said = await shortly(one)
      if (said === undefined) return
      shortOnes++
      expect(said).toEqual(await atLength(one))
    }),
    tries(600),
  )
  expect(shortOnes).toBeGreaterThan(50)
  expect(bugs).toEqual([])
})
