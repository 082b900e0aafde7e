import { describe, expect, test } from 'vitest'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { jsonLog } from '../../harness/json-log.ts'
import { clientMeta, mcpHttpRequest } from '../../harness/mcp-request.ts'
import { type Program, quietly, startHttpProgram, startProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'

const inJson = { VOICE_AGENT_LOG: 'json' }

/** Log entries of requests other than tool calls, without fields that vary between runs. */
const requestsIn = (program: Program) =>
  jsonLog(program.stderr())
    .filter(({ event }) => event === 'request')
    .map(({ method, outcome, code }) => [method, outcome, ...(code === undefined ? [] : [code])])

const prompt = { type: 'ref/prompt', name: 'review_agent' }

/** One request per method: its params, and the logged outcome and code. */
const requests: [string, Record<string, unknown>, ...(string | number)[]][] = [
  ['tools/list', {}, 'ok'],
  ['resources/list', {}, 'ok'],
  ['resources/templates/list', {}, 'ok'],
  ['resources/read', { uri: 'voice-agents://account' }, 'ok'],
  ['resources/read', { uri: 'voice-agents://nothing/secret' }, 'protocol_error', -32602],
  ['prompts/list', {}, 'ok'],
  ['prompts/get', { name: 'secret' }, 'protocol_error', -32602],
  ['completion/complete', { ref: prompt, argument: { name: 'agent_id', value: '' } }, 'ok'],
]

const expected = requests.map(([method, , ...outcome]) => [method, ...outcome])

describe('every request has one line in the log', () => {
  test('over HTTP, of 2026-07-28', async () => {
    await using program = await startHttpProgram(inJson)
    for (const [method, params] of requests) await rpc(program.url, method, params)
    await rpc(program.url, 'secret/method', {})
    await expect
      .poll(() => requestsIn(program))
      .toEqual([...expected, ['unknown', 'protocol_error', -32601]])
    expect(program.stderr()).not.toMatch(/secret/)
    const lines = jsonLog(program.stderr()).filter(({ event }) => event === 'request')
    expect(new Set(lines.map(({ key }) => key))).toEqual(
      new Set([expect.stringMatching(/^[\w-]{16}$/)]),
    )
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
    expect(lines[3]).toMatchObject({
      platform: { requests: 1, status: 200 },
      duration_ms: expect.any(Number),
    })
  })

  test('over HTTP, of 2025', async () => {
    await using program = await startHttpProgram(inJson)
    const ask = async (method: string, params: object) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': 'sandbox-key',
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
      await (await fetch(program.url, { method: 'POST', headers, body })).text()
    }
    const client = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }
    await ask('initialize', client)
    for (const [method, params] of requests) await ask(method, params)
    await expect.poll(() => requestsIn(program)).toEqual([['initialize', 'ok'], ...expected])
  })

  test('over stdio, of 2026-07-28, also what is answered before the SDK is loaded', async () => {
    await using program = startProgram(['--log', 'json'], {
      ...quietly,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
    })
    const all = [['server/discover', {}] as const, ...requests]
    const lines = all.map(([method, params], id) => mcpHttpRequest(method, params, { id }).body)
    program.process.stdin.end(`${lines.join('\n')}\n`)
    expect(await program.exited).toBe(0)
    expect(requestsIn(program).toSorted()).toEqual(
      [['server/discover', 'ok'], ...expected].toSorted(),
    )
  })

  test('over stdio, of 2025, with subscriptions', async () => {
    await using program = startProgram(['--log', 'json'], {
      ...quietly,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
    })
    const client = {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    }
    const uri = 'voice-agents://account'
    const all: [string, Record<string, unknown>, ...(string | number)[]][] = [
      ['initialize', client, 'ok'],
      ...requests,
      ['resources/subscribe', { uri }, 'ok'],
      ['resources/unsubscribe', { uri }, 'ok'],
      ['secret/method', {}, 'protocol_error', -32601],
    ]
    const line = (method: string, params: object, id: number) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params })
    program.process.stdin.end(
      `${all.map(([method, params], id) => line(method, params, id)).join('\n')}\n`,
    )
    expect(await program.exited).toBe(0)
    const wanted = all.map(([method, , ...outcome]) => [
      method === 'secret/method' ? 'unknown' : method,
      ...outcome,
    ])
    expect(requestsIn(program).toSorted()).toEqual(wanted.toSorted())
  })
})

describe('a stream of changes has one line, when it has ended', () => {
  const params = { notifications: { resourceSubscriptions: ['voice-agents://account'] } }

  test('over HTTP', async () => {
    await using program = await startHttpProgram(inJson)
    const request = mcpHttpRequest('subscriptions/listen', params, { key: 'sandbox-key' })
    const response = await fetch(program.url, request)
    await response.body?.getReader().read()
    expect(requestsIn(program)).toEqual([])
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(0)
    expect(requestsIn(program)).toEqual([['subscriptions/listen', 'ok']])
  })

  test('over stdio', async () => {
    await using program = startProgram(['--log', 'json'], {
      ...quietly,
      VOICE_AGENT_SANDBOX_DB: ':memory:',
    })
    program.process.stdin.write(
      `${mcpHttpRequest('subscriptions/listen', params, { id: 7 }).body}\n`,
    )
    await expect.poll(program.stdout, { timeout: 15_000 }).toMatch(/acknowledged/)
    const cancelled = {
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 7, _meta: clientMeta({}) },
    }
    program.process.stdin.end(`${JSON.stringify(cancelled)}\n`)
    expect(await program.exited).toBe(0)
    expect(requestsIn(program)).toEqual([['subscriptions/listen', 'ok']])
  })
})

test('an HTTP request that is refused has a line with the hash of its key', async () => {
  await using platform = await startFakePlatform((_, res) =>
    json(res, 401, envelope('unauthorized')),
  )
  await using program = await startHttpProgram({
    ...inJson,
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_MAX_RATE_PER_KEY: '1',
    VOICE_AGENT_CLIENT_TIMEOUT: '5',
  })
  const { headers, body } = mcpHttpRequest('tools/list', {}, { key: 'a'.repeat(20) })
  const ask = async (more: object, path = '/mcp') => {
    const request = { method: 'POST', headers: { ...headers, ...more }, body }
    const response = await fetch(new URL(path, program.url), request)
    await response.text()
    return response.status
  }
  const statuses = [
    await ask({}),
    await ask({}),
    await ask({ 'x-api-key': '' }),
    await ask({ origin: 'https://evil.example' }),
    await ask({}, '/elsewhere'),
  ]
  expect(statuses).toEqual([200, 429, 401, 403, 404])
  const refused = () =>
    jsonLog(program.stderr()).flatMap(({ event, status, key }) =>
      event === 'request_refused' ? [[status, typeof key]] : [],
    )
  await expect.poll(refused).toEqual([
    [429, 'string'],
    [401, 'undefined'],
    [403, 'string'],
    [404, 'string'],
  ])
  expect(program.stderr()).not.toContain('a'.repeat(20))
})

test('without an SDK of OpenTelemetry no trace is recorded or passed on', async () => {
  await using platform = await startFakePlatform((_, res) => json(res, 404, envelope('not_found')))
  await using program = await startHttpProgram({ ...inJson, VOICE_AGENT_BASE_URL: platform.url })
  const meta = { ...clientMeta({}), traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }
  const params = { name: 'list_agents', arguments: {} }
  const call = mcpHttpRequest('tools/call', params, { key: 'a-key', meta })
  await (await fetch(program.url, call)).text()
  await program.waitFor(/list_agents/)
  expect(platform.seen.length).toBeGreaterThan(0)
  expect(platform.seen.some(({ headers }) => 'traceparent' in headers)).toBe(false)
  expect(program.stderr()).not.toMatch(/trace/)
})
