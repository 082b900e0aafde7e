import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientMeta, mcpHttpRequest } from '../../harness/mcp-request.ts'
import { type Program, startHttpProgram } from '../../harness/program.ts'

type Message = Record<string, unknown>

let program: Program & { url: string }
beforeAll(async () => {
  program = await startHttpProgram()
})
afterAll(() => program[Symbol.asyncDispose]())

const at = (path: string) => program.url.replace('/mcp', path)

const legacyHeaders = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}

/** Posts a message; default headers: those of a client of the 2025 revisions. */
async function post(body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(program.url, {
    method: 'POST',
    headers: { ...legacyHeaders, ...headers },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  const data = [...text.matchAll(/^data: (.+)$/gm)].map(([, line = '']) => line)
  const texts = (data.length > 0 ? data : [text]).filter(Boolean)
  return { status: response.status, messages: texts.map((line): Message => JSON.parse(line)) }
}

const rpc = (message: Message): Message => ({ jsonrpc: '2.0', ...message })
const ping = (id: unknown, extra: Message = {}) => rpc({ id, method: 'ping', ...extra })

async function later(method: string, params: Message = {}, meta: object = clientMeta({})) {
  const response = await fetch(program.url, mcpHttpRequest(method, params, { meta }))
  const text = await response.text()
  const [, data] = /^data: (.+)$/m.exec(text) ?? [undefined, text]
  return JSON.parse(data) as Message
}

/** Sends a raw request, and returns status line and headers of the answer. */
function raw(lines: readonly string[]): Promise<string> {
  const { hostname, port } = new URL(program.url)
  return new Promise((resolve, reject) => {
    let response = ''
    const socket = connect(Number(port), hostname, () =>
      socket.write(`${[...lines, 'Connection: close'].join('\r\n')}\r\n\r\n`),
    )
    socket.on('data', (chunk) => {
      response += chunk
    })
    socket.once('error', reject)
    socket.once('close', () => resolve(response))
  })
}

describe('HTTP itself', () => {
  test.each([
    ['/mcp', 'GET'],
    ['/mcp', 'HEAD'],
    ['/mcp', 'DELETE'],
    ['/mcp', 'PUT'],
    ['/mcp/', 'PATCH'],
  ])('%s refuses %s and names its methods', async (path, method) => {
    const response = await fetch(at(path), { method, headers: { accept: 'text/event-stream' } })
    expect(response.status).toBe(405)
    expect(response.headers.get('allow')).toBe('POST, OPTIONS')
    const body = await response.text()
    expect(body).toBe(method === 'HEAD' ? '' : '{"error":"Use POST."}')
  })

  test('/health answers GET and HEAD with any Host header', async () => {
    const response = await raw([
      'GET /health HTTP/1.1',
      'Host: balancer.example',
      'Origin: http://a.b',
    ])
    expect(response).toMatch(/^HTTP\/1\.1 200 .*\{"status":"ok"\}$/s)
    const head = await fetch(at('/health'), { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
    const posted = await fetch(at('/health'), { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  test('two Host headers are refused', async () => {
    const hosts = ['Host: localhost', 'Host: evil.example']
    for (const order of [hosts, hosts.toReversed()]) {
      expect(await raw(['POST /mcp HTTP/1.1', ...order, 'Content-Length: 0'])).toMatch(
        /^HTTP\/1\.1 400 .*\bHost\b/s,
      )
    }
  })

  test('/mcp/ is /mcp, and the answer for another path names /mcp', async () => {
    const { url: _, ...asked } = { url: '', ...mcpHttpRequest('tools/list') }
    expect((await fetch(at('/mcp/'), asked)).status).toBe(200)
    const other = await fetch(at('/sse'), asked)
    expect([other.status, await other.text()]).toEqual([404, expect.stringContaining('/mcp')])
  })
})

describe('a message that is not valid is refused with an error response', () => {
  test.each<[string, unknown, unknown, number]>([
    ['params that are null', ping(5, { params: null }), 5, -32600],
    ['an id with a fraction', ping(1.5), 1.5, -32600],
    ['an id of 2^53', ping(2 ** 53), null, -32600],
    ['an id of null', ping(null), null, -32600],
    ['an unknown member', ping(5, { extra: 1 }), 5, -32600],
    ['a word', 'word', null, -32600],
    ['an empty batch', [], null, -32600],
    [
      'a progress token of 2^53',
      ping(5, { params: { _meta: { progressToken: 2 ** 53 } } }),
      5,
      -32602,
    ],
  ])('%s', async (_, message, id, code) => {
    const { status, messages } = await post(message)
    expect(status).toBe(400)
    expect(messages).toMatchObject([{ jsonrpc: '2.0', id, error: { code } }])
  })

  test('a progress token of 2^53 in a call of the 2026 revision, too', async () => {
    const params = { name: 'get_current_account', arguments: {} }
    const meta = { ...clientMeta({}), progressToken: 2 ** 53 }
    expect(await later('tools/call', params, meta)).toMatchObject({
      id: 1,
      error: { code: -32602 },
    })
  })
})

describe('batches', () => {
  const batch = [ping('a'), ping('b')]

  test.each([{}, { 'mcp-protocol-version': '2025-03-26' }])(
    'are answered where the revision has them (%j)',
    async (headers) => {
      const { status, messages } = await post(batch, headers)
      expect(status).toBe(200)
      expect(
        messages
          .flat()
          .map((one) => (one as Message).id)
          .toSorted(),
      ).toEqual(['a', 'b'])
    },
  )

  test.each(['2024-11-05', '2025-06-18', '2025-11-25', '2026-07-28'])(
    'are refused where it has none (%s)',
    async (version) => {
      const { status, messages } = await post(batch, { 'mcp-protocol-version': version })
      expect(status).toBe(400)
      expect(messages).toMatchObject([{ id: null, error: { code: -32600 } }])
    },
  )
})

describe('parameters', () => {
  const lists = ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']

  test.each(lists)('%s refuses a cursor that this server did not give', async (method) => {
    for (const cursor of ['x', '0', '999999999', '']) {
      const error = { code: -32602, message: expect.stringMatching(/cursor/) }
      expect(await later(method, { cursor }), cursor).toMatchObject({ error })
      const legacy = await post(rpc({ id: 1, method, params: { cursor } }))
      expect(legacy.messages, cursor).toMatchObject([{ error }])
    }
  })

  test.each([
    ['cursor', rpc({ id: 1, method: 'tools/list', params: { cursor: 5 } }), /params\.cursor: /],
    ['name', rpc({ id: 1, method: 'tools/call', params: { name: 5 } }), /params\.name: /],
    ['uri', rpc({ id: 1, method: 'resources/read', params: {} }), /params\.uri: /],
    [
      'capabilities',
      rpc({
        id: 1,
        method: 'initialize',
        params: {
          protocolVersion: '2025-06-18',
          capabilities: null,
          clientInfo: { name: 'x', version: '1' },
        },
      }),
      /params\.capabilities: /,
    ],
  ])('of a wrong form (%s) are refused in one sentence', async (_, message, pattern) => {
    const { messages } = await post(message)
    expect(messages).toMatchObject([
      { id: 1, error: { code: -32602, message: expect.stringMatching(pattern) } },
    ])
    expect(JSON.stringify(messages)).not.toMatch(/\\n|invalid_type/)
  })

  test('a resource that does not exist has the error code of the revision', async () => {
    const uri = 'voice-agents://nothing'
    const error = { data: { uri } }
    expect(await later('resources/read', { uri })).toMatchObject({
      error: { ...error, code: -32602 },
    })
    const { messages } = await post(rpc({ id: 1, method: 'resources/read', params: { uri } }))
    expect(messages).toMatchObject([{ error: { ...error, code: -32002 } }])
  })
})

const hidden = /[\p{Cc}\p{Cf}]/u

test('text of a client is cut and made safe in logs and in answers', async () => {
  const evil = `x\n\u001b[31mvoice-agent-mcp: forged\u202e${'y'.repeat(3_900_000)}`
  const name = (params: object) => rpc({ id: 1, method: 'tools/call', params })
  const meta = { ...clientMeta({}), 'io.modelcontextprotocol/protocolVersion': evil }
  const modernHeaders = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call' }
  const answers = [
    await post(rpc({ id: 1, method: evil })),
    await post(name({ name: evil })),
    await post(rpc({ id: 1, method: 'resources/read', params: { uri: evil } })),
    await post(rpc({ id: 1, method: 'prompts/get', params: { name: evil } })),
    await post(rpc({ id: 1, method: 'ping', [evil]: 1 })),
    await post(rpc({ id: 1, method: evil, params: { _meta: meta } })),
    await post(name({ name: evil, _meta: clientMeta({}) }), {
      ...modernHeaders,
      'mcp-name': 'other',
    }),
    await post(rpc({ id: 1, method: evil, params: { _meta: clientMeta({}) } }), modernHeaders),
    await post(name({ name: 'get_agent', _meta: clientMeta({ experimental: { [evil]: 1 } }) })),
  ]
  for (const { messages } of answers) {
    const text = JSON.stringify(messages)
    expect(text).toContain('"error"')
    expect(text.length).toBeLessThan(5000)
    JSON.parse(text, (key, value) => {
      expect(key).not.toMatch(hidden)
      if (typeof value === 'string') expect(value).not.toMatch(hidden)
      return value
    })
  }
  // All answers have arrived, so their log lines are complete.
  for (const line of program.stderr().split('\n')) {
    expect(line.length).toBeLessThan(1100)
    expect(line).not.toMatch(/^voice-agent-mcp: forged/)
    expect(line).not.toMatch(hidden)
  }
}, 60_000)

test('no text of a client is in the log, but at debug', async () => {
  const evil = 'a-text-of-the-client'
  const logOf = async (level: string) => {
    await using logging = await startHttpProgram({ VOICE_AGENT_LOG_LEVEL: level })
    const send = (body: string, headers: Record<string, string> = {}) =>
      fetch(logging.url, { method: 'POST', headers: { ...legacyHeaders, ...headers }, body })
    const bodies = [
      `{"jsonrpc":"2.0","${evil}`,
      JSON.stringify(rpc({ id: 1, method: evil, [evil]: 1 })),
      JSON.stringify(rpc({ id: 1, method: 'tools/call', params: { name: 7, [evil]: evil } })),
      JSON.stringify(rpc({ id: evil, method: 'resources/read', params: { uri: evil } })),
    ]
    for (const body of bodies) {
      await (await send(body)).text()
      await (await send(body, { 'mcp-protocol-version': evil })).text()
      await (await send(body, { 'mcp-protocol-version': '2026-07-28', 'mcp-name': evil })).text()
    }
    return logging.stderr()
  }
  expect(await logOf('info')).not.toContain(evil)
  expect(await logOf('debug')).toContain(evil)
})
