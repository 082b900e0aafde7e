import { request } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKinds, connectHttp } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { bearer, callTool } from '../../harness/oauth-flow.ts'
import { type Program, startHttpProgram, startPlatformProgram } from '../../harness/program.ts'

/** Sends a request with any Host header, which `fetch` would not allow. */
function send(
  url: string,
  {
    method = 'POST',
    headers = {},
    body = '',
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<{ status: number; headers: Record<string, unknown>; body: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk)
      const { statusCode = 0 } = response
      resolve({
        status: statusCode,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      })
    })
    outgoing.on('error', reject).end(body)
  })
}

const initialize = {
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  },
  body: JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'x', version: '1' },
    },
  }),
}
const withHeaders = (headers: Record<string, string>) => ({
  ...initialize,
  headers: { ...initialize.headers, ...headers },
})

describe('keys', () => {
  let platform: Program & { url: string }
  beforeAll(async () => {
    platform = await startPlatformProgram()
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  test.each(clientKinds)('each request goes to the platform with its own (%s)', async (kind) => {
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    await using one = await connectHttp(kind, program.url, { 'X-API-Key': 'sandbox-key' })
    await using other = await connectHttp(kind, program.url, {
      Authorization: 'Bearer sandbox-other-key',
    })
    const names = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        (index % 2 ? one : other).value('get_current_account').then(({ name }) => name),
      ),
    )
    expect(names).toEqual(
      Array.from({ length: 20 }, (_, index) =>
        index % 2 ? 'Sandbox account' : 'Unrelated account',
      ),
    )
    const agents = await one.value('list_agents')
    const seen = await other.call('get_agent', {
      agent_id: (agents.items as { id: string }[])[0]?.id,
    })
    expect(seen.isError).toBe(true)
    expect(seen.content[0]?.text).toContain('404')
  })

  test('the error for a key that the platform refuses names its source', async () => {
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    for (const [headers, source] of [
      [{ 'X-API-Key': 'wrong-key' }, "the request's X-API-Key header"],
      [{ Authorization: 'Bearer wrong-key' }, "the request's Authorization header"],
    ] as const) {
      await using client = await connectHttp('v2 2026-07-28', program.url, headers)
      const { isError, content } = await client.call('get_current_account')
      expect(isError).toBe(true)
      expect(content[0]?.text).toContain(source)
      expect(content[0]?.text).not.toContain('wrong-key')
    }
  })

  test('a request without one is refused with 401 when the platform is real', async () => {
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const { status, headers, body } = await send(program.url, initialize)
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toMatch(/^Bearer/)
    expect(JSON.parse(body).error.message).toMatch(/X-API-Key.*Authorization: Bearer/)
  })

  test("the operator's key is used only for requests from this machine", async () => {
    await using program = await startHttpProgram(
      { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'sandbox-key' },
      ['--host', '0.0.0.0'],
    )
    const url = program.url.replace('0.0.0.0', '127.0.0.1')
    expect((await send(url, initialize)).status).toBe(401)
    await using client = await connectHttp('v1', url, { 'X-API-Key': 'sandbox-other-key' })
    expect((await client.value('get_current_account')).name).toBe('Unrelated account')
  })

  test("a request's own key is used instead of the operator's", async () => {
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sandbox-key',
    })
    await using client = await connectHttp('v1', program.url, { 'X-API-Key': 'sandbox-other-key' })
    expect((await client.value('get_current_account')).name).toBe('Unrelated account')
  })

  test.each([
    [{ 'x-api-key': '' }, 401],
    [{ 'x-api-key': '  ' }, 401],
    [{ authorization: 'Bearer' }, 401],
    [{ authorization: 'Bearer ' }, 401],
    [{ authorization: 'Basic dXNlcjpwYXNz' }, 401],
    [{ authorization: 'sandbox-other-key' }, 401],
    [{ 'x-api-key': 'a b' }, 400],
  ])('%j does not use the key of the operator', async (headers, expected) => {
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: 'sandbox-key',
    })
    const { status, body } = await send(program.url, withHeaders(headers as Record<string, string>))
    expect(status).toBe(expected)
    expect(body).not.toContain('sandbox-key')
  })

  test('two different keys are refused', async () => {
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const both = { 'x-api-key': 'sandbox-key', authorization: 'Bearer sandbox-other-key' }
    const { status, body } = await send(program.url, withHeaders(both))
    expect(status).toBe(400)
    expect(body).toMatch(/different keys/)
    expect(body).not.toMatch(/sandbox-/)
  })

  test('no answer holds data of another user', async () => {
    const seen: (string | undefined)[] = []
    await using fake = await startFakePlatform(({ headers }, res) => {
      const key = headers['x-api-key']
      seen.push(String(key))
      setTimeout(
        () => json(res, 200, { id: `account-${String(key).slice(5)}`, name: null }),
        Math.random() * 20,
      )
    })
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: fake.url })
    const users = Array.from({ length: 25 }, (_, index) => `user-${index}`)
    await Promise.all(
      users.map(async (user) => {
        await using client = await connectHttp('v2 2026-07-28', program.url, { 'X-API-Key': user })
        for (let turn = 0; turn < 4; turn++) {
          expect((await client.value('get_current_account')).id).toBe(`account-${user.slice(5)}`)
        }
      }),
    )
    expect(new Set(seen)).toEqual(new Set(users))
  })
})

describe('the address', () => {
  let program: Program & { url: string }
  beforeAll(async () => {
    program = await startHttpProgram({}, ['--allowed-origins', 'app.example'])
  })
  afterAll(() => program[Symbol.asyncDispose]())

  test('/health says ok, and other paths are not found', async () => {
    const at = (path: string) => send(program.url.replace('/mcp', path), { method: 'GET' })
    expect(await at('/health')).toMatchObject({ status: 200, body: '{"status":"ok"}' })
    expect((await at('/')).status).toBe(404)
  })

  test('another Host name is refused, against DNS rebinding', async () => {
    expect((await send(program.url, withHeaders({ host: 'evil.example' }))).status).toBe(403)
    expect((await send(program.url, withHeaders({ host: 'localhost:3000' }))).status).toBe(200)
  })

  test('pages of other origins are refused, and allowed pages may read', async () => {
    const from = (origin: string) => send(program.url, withHeaders({ origin }))
    expect((await from('https://evil.example')).status).toBe(403)
    for (const origin of ['http://localhost:6274', 'https://app.example']) {
      const { status, headers } = await from(origin)
      expect(status).toBe(200)
      expect(headers['access-control-allow-origin']).toBe(origin)
    }
    const preflight = await send(program.url, {
      method: 'OPTIONS',
      headers: { origin: 'https://app.example', 'access-control-request-headers': 'x-api-key' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers['access-control-allow-headers']).toBe('x-api-key')
  })

  test('that other machines reach accepts the names in --allowed-hosts only, and any name without them', async () => {
    const real = { VOICE_AGENT_BASE_URL: 'http://127.0.0.1:9' }
    const key = { 'x-api-key': 'some-key' }
    const everywhere = ['--host', '0.0.0.0']
    await using named = await startHttpProgram(real, [
      ...everywhere,
      '--allowed-hosts',
      'a.example',
    ])
    for (const [host, status] of [
      ['evil.example', 403],
      ['a.example', 200],
      ['127.0.0.1:3000', 200],
    ] as const)
      expect((await send(named.url, withHeaders({ host, ...key }))).status, host).toBe(status)
    await using open = await startHttpProgram(real, everywhere)
    expect((await send(open.url, withHeaders({ host: 'any.example', ...key }))).status).toBe(200)
  })

  test.each([['no JSON', 'nonsense', 400]])(
    'a body that is %s is refused, and the server goes on',
    async (_, body, status) => {
      const refused = await send(program.url, { ...initialize, body })
      expect(refused.status).toBe(status)
      expect((await send(program.url, initialize)).status).toBe(200)
    },
  )

  test('a client that reads only after writing learns that its request is too large', async () => {
    const { host, hostname, port, pathname } = new URL(program.url)
    const body = 'x'.repeat(12 * 1024 * 1024)
    const socket = connect(Number(port), hostname).pause()
    const written = promisify<string>(socket.write.bind(socket))
    await written(
      `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const response = await text(socket.resume())
    expect(response).toMatch(
      /^HTTP\/1.1 413 [\s\S]*connection: close[\s\S]*larger than 4194304 bytes/i,
    )
    expect((await send(program.url, initialize)).status).toBe(200)
  })

  test('a body that is far too large is not read to its end', async () => {
    const body = `"${'x'.repeat(20 * 1024 * 1024)}"`
    // The server may close the connection before the client has read its answer.
    const status = await send(program.url, { ...initialize, body }).then(
      (refused) => refused.status,
      ({ code }: NodeJS.ErrnoException) => code,
    )
    expect([413, 'EPIPE', 'ECONNRESET']).toContain(status)
    expect((await send(program.url, initialize)).status).toBe(200)
  })

  test('another method is refused', async () => {
    for (const method of ['TRACE', 'PUT', 'PATCH']) {
      expect((await send(program.url, { method })).status).toBe(405)
    }
  })

  test('another content type is refused', async () => {
    expect((await send(program.url, withHeaders({ 'content-type': 'text/plain' }))).status).toBe(
      415,
    )
  })
})

test('without --oauth an access token is refused, too, and never sent to the platform', async () => {
  await using platform = await startFakePlatform((_, response) => response.end('{}'))
  await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
  const token = 'voice-agent-mcp-access-x.voice-agent-mcp'
  const answer = await callTool(program.url, 'list_agents', bearer(token))
  expect(answer.status).toBe(401)
  expect(await answer.text()).toMatch(/--oauth\b/)
  expect((await callTool(program.url, 'list_agents', { 'x-api-key': token })).status).toBe(400)
  expect(platform.seen).toEqual([])
})
