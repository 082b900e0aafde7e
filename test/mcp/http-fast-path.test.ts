import { createMcpHandler } from '@modelcontextprotocol/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { McpService } from '../../src/server/service.ts'
import { tools } from '../../tools/index.ts'
import {
  legacyRequest,
  legacyViewRequest,
  type McpRequest,
  modernRequest,
  ordinaryRequests,
  viewRequest,
} from '../harness/any-mcp-request.ts'
import { seedIds } from '../harness/sandbox.ts'
import { createTestService, exposure, openSandbox } from './test-service.ts'

let sandbox: Awaited<ReturnType<typeof openSandbox>>
let service: McpService
let handler: ReturnType<typeof createMcpHandler>

beforeAll(async () => {
  sandbox = await openSandbox()
  service = createTestService(sandbox.client, (error) => {
    throw error
  })
  handler = createMcpHandler(service.factory)
})
afterAll(() => sandbox.close())

/** Answer of the fast path; `undefined` if it leaves the request to the SDK. */
async function fastAnswer({ headers, message }: McpRequest): Promise<unknown> {
  const answer = await service.httpFastPath(message, {
    header: (name) => headers[name],
    credential: undefined,
    exposure,
    signal: () => new AbortController().signal,
  })
  return answer === undefined ? undefined : JSON.parse(answer.join(''))
}

/** Answer of the SDK; `undefined` if it refuses the request. */
async function sdkAnswer({ headers, message }: McpRequest): Promise<unknown> {
  const body = JSON.stringify(message)
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body }
  const response = await handler.fetch(new Request('http://127.0.0.1/mcp', init))
  const text = await response.text()
  if (response.status !== 200) return undefined
  const [, data] = /^data: (.+)$/m.exec(text) ?? [undefined, text]
  return JSON.parse(data)
}

const agent_id = seedIds.supportAgent

describe.each([
  ['2026-07-28', modernRequest],
  ['2025', legacyRequest],
  ['2026-07-28 with views', viewRequest],
  ['2025 with views', legacyViewRequest],
])('a request of %s', (_, requestOf) => {
  test.each(ordinaryRequests)('%s %j gets the answer of the SDK', async (method, params) => {
    const request = requestOf(method, params)
    const answer = await fastAnswer(request)
    expect(answer).toBeDefined()
    expect(answer).toEqual(await sdkAnswer(request))
  })

  test.each([
    ['for an unknown tool', 'tools/call', { name: 'get_agnt' }],
    ['of another method', 'resources/list', {}],
    ['with a cursor', 'tools/list', { cursor: 'x' }],
    ['with answers to questions', 'tools/call', { name: 'list_agents', inputResponses: {} }],
    ['without a name', 'tools/call', {}],
  ])('%s is left to the SDK', async (_, method, params) => {
    expect(await fastAnswer(requestOf(method, params))).toBeUndefined()
  })

  test.each(tools.filter(({ asksConfirmation }) => asksConfirmation).map(({ name }) => name))(
    'for %s, which may ask for confirmation, is left to the SDK',
    async (name) => {
      expect(await fastAnswer(requestOf('tools/call', { name, arguments: {} }))).toBeUndefined()
    },
  )

  test('with a progress token is left to the SDK if the tool reports progress', async () => {
    const withToken = ({ headers, message }: McpRequest) => {
      const { params, ...rest } = message as { params: { _meta?: object } }
      const _meta = { ...params._meta, progressToken: 1 }
      return { headers, message: { ...rest, params: { ...params, _meta } } }
    }
    const silent = withToken(
      requestOf('tools/call', { name: 'get_agent', arguments: { agent_id } }),
    )
    expect(await fastAnswer(silent)).toEqual(await sdkAnswer(silent))
    const reporting = requestOf('tools/call', {
      name: 'wait_for_call',
      arguments: { call_id: 'x' },
    })
    expect(await fastAnswer(reporting)).toEqual(await sdkAnswer(reporting))
    expect(await fastAnswer(withToken(reporting))).toBeUndefined()
  })
})

test('some tools may ask for confirmation', () => {
  expect(tools.filter(({ asksConfirmation }) => asksConfirmation).length).toBeGreaterThan(3)
})
