import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { jsonLog } from '../harness/json-log.ts'
import { clientMeta, mcpHttpRequest } from '../harness/mcp-request.ts'
import { quietly, startProgram } from '../harness/program.ts'
import { seedIds } from '../harness/sandbox.ts'
import {
  onlyTraces,
  type Span,
  spansAtTheEnd,
  startTraced,
  startTracedHttp,
} from './traced-program.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const traceparent = `00-${traceId}-${parentId}-01`
const tracestate = 'vendor=value'
const key = 'secret-key-0123456789'
const agent_id = '00000000-0000-4000-8002-00000000abcd'

/** A tool call in the form of each protocol revision, with this trace context. */
const callOf = (
  protocol: '2026-07-28' | '2025',
  name: string,
  args: object,
  trace: object = {},
) => {
  const params = { name, arguments: args }
  const meta = protocol === '2025' ? trace : { ...clientMeta({}), ...trace }
  const request = mcpHttpRequest('tools/call', params, { key, meta })
  if (protocol === '2026-07-28') return request
  const { 'mcp-method': _, 'mcp-name': __, ...headers } = request.headers
  return { ...request, headers: { ...headers, 'mcp-protocol-version': '2025-11-25' } }
}

/** A platform that fails once with 503, then replies 404. */
const failingOnce = () =>
  startFakePlatform(
    (_, res, before) =>
      before === 0
        ? json(res, 503, envelope('unavailable'))
        : json(res, 404, envelope('not_found'), { 'x-request-id': 'req-2' }),
    { account: '00000000-0000-4000-8001-000000000001' },
  )

const named = (spans: readonly Span[], name: string) => spans.filter((span) => span.name === name)

describe('a tool call is part of the trace that its _meta names', () => {
  test.each([
    ['2026-07-28', 'over HTTP'],
    ['2025', 'over HTTP'],
    ['2026-07-28', 'over stdio'],
    ['2025', 'over stdio'],
  ] as const)('of %s, %s, and so are its requests to the platform', async (protocol, transport) => {
    await using platform = await failingOnce()
    const trace = { traceparent, tracestate, baggage: 'user=alice' }
    const call = callOf(protocol, 'get_agent', { agent_id }, trace)
    const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: key }
    const ended =
      transport === 'over HTTP' ? await overHttp(env, call) : await overStdio(env, protocol, call)
    const [server] = named(ended.spans, 'tools/call get_agent')
    expect(server).toMatchObject({
      kind: 1,
      traceId,
      parentId,
      status: { code: 2 },
      attributes: {
        'mcp.method.name': 'tools/call',
        'gen_ai.tool.name': 'get_agent',
        'gen_ai.operation.name': 'execute_tool',
        'jsonrpc.request.id': '1',
        'mcp.protocol.version': protocol === '2025' ? '2025-11-25' : protocol,
        'network.transport': transport === 'over HTTP' ? 'tcp' : 'pipe',
        'error.type': 'tool_error',
        'voice_agent_mcp.outcome': 'rejected',
      },
    })
    const tries = named(ended.spans, 'GET /v1/accounts/{account_id}/agents/{agent_id}')
    expect(tries.slice(0, 2)).toMatchObject([
      {
        kind: 2,
        traceId,
        parentId: server?.spanId,
        status: { code: 2 },
        attributes: {
          'http.request.method': 'GET',
          'url.template': '/v1/accounts/{account_id}/agents/{agent_id}',
          'server.address': '127.0.0.1',
          'server.port': Number(new URL(platform.url).port),
          'http.response.status_code': 503,
          'error.type': '503',
        },
      },
      {
        attributes: {
          'http.response.status_code': 404,
          'http.request.resend_count': 1,
          'http.response.header.x-request-id': ['req-2'],
        },
      },
    ])
    expect(platform.seen.slice(0, 2).map(({ headers }) => headers.traceparent)).toEqual(
      tries.slice(0, 2).map(({ spanId }) => `00-${traceId}-${spanId}-01`),
    )
    expect(platform.seen[0]?.headers).toMatchObject({ tracestate, 'x-api-key': key })
    expect(platform.seen[0]?.headers).not.toHaveProperty('baggage')
    expect(jsonLog(ended.log).find(({ tool }) => tool === 'get_agent')).toMatchObject({
      trace_id: traceId,
    })
    expect(JSON.stringify(ended.spans)).not.toMatch(new RegExp(`${agent_id}|${key}|alice`))
  })

  async function overHttp(env: Record<string, string>, call: ReturnType<typeof callOf>) {
    await using program = await startTracedHttp(env)
    // The header counts only if `_meta` has no trace context.
    const headers = { ...call.headers, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
    await (await fetch(program.url, { ...call, headers })).text()
    return { spans: await spansAtTheEnd(program), log: program.stderr() }
  }

  async function overStdio(
    env: Record<string, string>,
    protocol: string,
    call: ReturnType<typeof callOf>,
  ) {
    await using program = startTraced([], env)
    if (protocol === '2025') program.process.stdin.write(`${JSON.stringify(initialize)}\n`)
    program.process.stdin.end(`${call.body}\n`)
    expect(await program.exited).toBe(0)
    return { spans: program.spans(), log: program.stderr() }
  }
})

const initialize = {
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
}

describe('the trace of a request', () => {
  /** Server spans of these requests. */
  async function spansOf(...requests: ReturnType<typeof mcpHttpRequest>[]) {
    await using program = await startTracedHttp()
    for (const request of requests) await (await fetch(program.url, request)).text()
    return (await spansAtTheEnd(program)).filter(({ kind }) => kind === 1)
  }

  const list = (meta: object, headers: object = {}) => {
    const request = mcpHttpRequest('tools/list', {}, { meta: { ...clientMeta({}), ...meta } })
    return { ...request, headers: { ...request.headers, ...headers } }
  }

  test('is that of its HTTP header where _meta names none', async () => {
    const spans = await spansOf(list({}, { traceparent }))
    expect(spans).toMatchObject([{ name: 'tools/list', traceId, parentId, links: [] }])
  })

  test('is a new one where what it names is not valid', async () => {
    const hostile: object[] = [
      { traceparent: 'nonsense' },
      { traceparent: 7 },
      { traceparent: { length: 55 } },
      { traceparent: `00-${'0'.repeat(32)}-${parentId}-01` },
      { traceparent: 'x'.repeat(60_000) },
      { tracestate: 'a=b\r\nx-evil: 1' },
      JSON.parse('{"__proto__": {"traceparent": "x"}}'),
    ]
    const spans = await spansOf(...hostile.map((meta) => list(meta)))
    expect(spans).toHaveLength(hostile.length)
    expect(new Set(spans.map((span) => span.traceId)).size).toBe(hostile.length)
    expect(spans.every((span) => span.parentId === undefined)).toBe(true)
  })

  test('has a span for every kind of request, with an error only for faults of the server', async () => {
    const get = (method: string, params: Record<string, unknown>) =>
      mcpHttpRequest(method, params, { key: 'sandbox-key' })
    const uri = `voice-agents://agents/${seedIds.supportAgent}`
    const spans = await spansOf(
      get('resources/list', {}),
      get('resources/read', { uri }),
      get('prompts/get', { name: 'review_agent', arguments: { agent_id: seedIds.supportAgent } }),
      get('prompts/get', { name: 'secret prompt' }),
      get('tools/call', { name: 'secret tool', arguments: {} }),
      get('tools/call', { name: 'list_agents', arguments: {} }),
      get('tools/call', { name: 'get_agent', arguments: {} }),
    )
    const shown = spans.map(({ name, status, attributes }) => [
      name,
      status.code,
      attributes['voice_agent_mcp.outcome'],
      attributes['rpc.response.status_code'] ?? attributes['error.type'] ?? '',
    ])
    expect(shown).toEqual([
      ['resources/list', 0, 'ok', ''],
      ['resources/read', 0, 'ok', ''],
      ['prompts/get review_agent', 0, 'ok', ''],
      ['prompts/get', 0, 'protocol_error', '-32602'],
      ['tools/call', 0, 'protocol_error', '-32602'],
      ['tools/call list_agents', 0, 'ok', ''],
      ['tools/call get_agent', 2, 'bad_arguments', 'tool_error'],
    ])
    expect(JSON.stringify(spans)).not.toMatch(new RegExp(`secret|${seedIds.supportAgent}`))
  })

  test('has a span for what stdio answers before the SDK of MCP is loaded', async () => {
    await using program = startTraced([])
    const meta = { ...clientMeta({}), traceparent }
    program.process.stdin.end(`${mcpHttpRequest('tools/list', {}, { meta }).body}\n`)
    expect(await program.exited).toBe(0)
    expect(program.spans()).toMatchObject([
      { name: 'tools/list', traceId, parentId, attributes: { 'network.transport': 'pipe' } },
    ])
  })
})

test('beside an instrumented HTTP client, a request has one span and one traceparent', async () => {
  await using platform = await startFakePlatform((_, res) => json(res, 404, envelope('not_found')))
  await using program = await startTracedHttp({
    VOICE_AGENT_BASE_URL: platform.url,
    INSTRUMENT_UNDICI: 'yes',
  })
  const call = callOf('2026-07-28', 'get_agent', { agent_id }, { traceparent })
  await (await fetch(program.url, call)).text()
  const spans = await spansAtTheEnd(program)
  const sent = platform.seen.map(({ headers }) => headers.traceparent)
  const clients = spans.filter(({ kind }) => kind === 2)
  expect(sent.length).toBeGreaterThan(0)
  expect(clients).toHaveLength(sent.length)
  // A header that is sent twice would be joined, and fail the pattern.
  expect(sent.every((text) => /^00-\w{32}-\w{16}-01$/.test(String(text)))).toBe(true)
})

test('the file of the documentation sends spans to a collector, the last ones at the end', async () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/observability.md'), 'utf8')
  const [, script = ''] = /```js\n(\/\/ tracing\.mjs\n[\s\S]*?)```/.exec(text) ?? []
  // In a folder from which its imports resolve.
  const file = join(import.meta.dirname, 'node_modules/documented.mjs')
  writeFileSync(file, script)
  const { promise: sent, resolve } = Promise.withResolvers<string>()
  await using collector = await startFakePlatform(({ url, body }, res) => {
    if (url === '/v1/traces') resolve(body)
    json(res, 200, {})
  })
  await using program = startProgram(
    [],
    {
      ...quietly,
      ...onlyTraces,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
      OTEL_SERVICE_NAME: 'voice',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    },
    ['--import', file],
  )
  const request = mcpHttpRequest('tools/call', { name: 'list_agents', arguments: {} })
  program.process.stdin.end(`${request.body}\n`)
  expect(await program.exited).toBe(0)
  expect(program.stderr()).not.toMatch(/rror/)
  const spans = await sent
  expect(spans).toMatch(/"tools\/call list_agents"/)
  expect(spans).toMatch(/"GET \/v1\/accounts\/\{account_id\}\/agents"/)
  expect(spans).toMatch(/"stringValue":"voice"/)
  expect(spans).not.toMatch(/process\.command/)
})
