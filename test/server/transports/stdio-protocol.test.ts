import { describe, expect, test } from 'vitest'
import { clientMeta } from '../../harness/mcp-request.ts'
import { quietly, startProgram } from '../../harness/program.ts'

type Message = Record<string, unknown>

/** Answers of the program to these input lines, until it ends. */
async function answersTo(...lines: readonly unknown[]) {
  const env = { VOICE_AGENT_SANDBOX_DB: ':memory:', VOICE_AGENT_LOG_LEVEL: 'debug' }
  await using program = startProgram([], { ...env, ...quietly })
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  program.process.stdin?.end(`${text.join('\n')}\n`)
  expect(await program.exited).toBe(0)
  const lineTexts = program.stdout().split('\n').slice(0, -1)
  return { answers: lineTexts.map((line): unknown => JSON.parse(line)), stderr: program.stderr() }
}

const rpc = (message: Message): Message => ({ jsonrpc: '2.0', ...message })
const clientInfo = { name: 'test', version: '1' }
const initialize = (protocolVersion: string, capabilities: unknown = {}, id: unknown = 0) =>
  rpc({ id, method: 'initialize', params: { protocolVersion, capabilities, clientInfo } })
const begin = [initialize('2025-11-25'), rpc({ method: 'notifications/initialized' })]
const ping = (id: unknown, extra: Message = {}) => rpc({ id, method: 'ping', ...extra })
const later = (id: unknown, version = '2026-07-28', method = 'tools/call') => {
  const meta = { ...clientMeta({}), 'io.modelcontextprotocol/protocolVersion': version }
  const name = method === 'tools/call' ? { name: 'get_current_account', arguments: {} } : {}
  return rpc({ id, method, params: { ...name, _meta: meta } })
}

describe('an id that a client uses again', () => {
  test.each([
    ['a method that is none', rpc({ id: 1, method: 'nothing' }), { error: { code: -32601 } }],
    ['a ping', ping(1), { result: {} }],
    ['a list', rpc({ id: 1, method: 'prompts/list' }), { result: { prompts: expect.any(Array) } }],
  ])('gets the answer to %s, not to `initialize`', async (_, message, answer) => {
    const { answers } = await answersTo(initialize('2025-11-25', {}, 1), message)
    expect(answers).toMatchObject([{ id: 1, result: { protocolVersion: '2025-11-25' } }, answer])
    expect(answers).toHaveLength(2)
    expect(answers[1]).not.toHaveProperty('result.protocolVersion')
  })

  test('gets the later answer in the 2026 revision, too', async () => {
    const { answers } = await answersTo(
      later(1, '2026-07-28', 'tools/list'),
      later(1, undefined, 'nothing'),
    )
    expect(answers).toMatchObject([
      { id: 1, result: {} },
      { id: 1, error: { code: -32601 } },
    ])
  })
})

describe('a message that is not valid is answered with an error', () => {
  test.each<[string, unknown, unknown, number]>([
    ['params that are null', ping(5, { params: null }), 5, -32600],
    ['params that are a list', ping(5, { params: [] }), 5, -32600],
    ['an id with a fraction', ping(1.5), 1.5, -32600],
    ['an id of 2^53', ping(2 ** 53), null, -32600],
    ['an id of null', ping(null), null, -32600],
    ['an id that is an object', ping({}), null, -32600],
    ['a member of no meaning', ping(5, { extra: 1 }), 5, -32600],
    ['no version', { id: 5, method: 'ping' }, 5, -32600],
    ['no method', rpc({ id: 5 }), 5, -32600],
    ['a method that is no text', rpc({ id: 5, method: 7 }), 5, -32600],
    ['a word', '"word"', null, -32600],
    ['a line that is not JSON', '{"half', null, -32700],
    ['_meta that is a list', ping(5, { params: { _meta: [] } }), 5, -32602],
    [
      'a progress token of 2^53',
      ping(5, { params: { _meta: { progressToken: 2 ** 53 } } }),
      5,
      -32602,
    ],
    [
      'a notification with params of null',
      rpc({ method: 'notifications/x', params: null }),
      null,
      -32600,
    ],
    ['a batch', [ping(5)], null, -32600],
  ])('%s', async (_, message, id, code) => {
    const expected = { jsonrpc: '2.0', id, error: { code, message: expect.stringMatching(/\.$/) } }
    const { answers } = await answersTo(...begin, message, ping('last'))
    expect(answers).toMatchObject([{ id: 0 }, expected, { id: 'last', result: {} }])
    // Also as the very first line.
    expect((await answersTo(message)).answers).toMatchObject([expected])
  })

  test('but a malformed response is not answered: two programs could answer each other for ever', async () => {
    const { answers, stderr } = await answersTo(...begin, rpc({ id: {}, result: 1 }), ping('last'))
    expect(answers).toMatchObject([{ id: 0 }, { id: 'last' }])
    expect(stderr).toMatch(/\bresponse\b/)
  })
})

describe('batches', () => {
  const start = initialize('2025-03-26')

  test('are answered together in the revision that has them', async () => {
    const batch = [ping('a'), rpc({ method: 'notifications/initialized' }), ping(1.5), ping('b'), 7]
    const { answers } = await answersTo(start, batch, ping('last'))
    expect(answers).toHaveLength(3)
    const batchAnswers = answers.find((one): one is Message[] => Array.isArray(one)) ?? []
    expect(batchAnswers.map(({ id }) => id).toSorted()).toEqual([1.5, 'a', 'b', null])
    expect(batchAnswers.filter(({ error }) => error)).toMatchObject([
      { id: 1.5, error: { code: -32600 } },
      { id: null, error: { code: -32600 } },
    ])
  })

  test('of notifications alone get no answer', async () => {
    const { answers } = await answersTo(
      start,
      [rpc({ method: 'notifications/initialized' })],
      ping('last'),
    )
    expect(answers).toMatchObject([{ id: 0 }, { id: 'last' }])
  })

  test('do not wait for a request that is cancelled', async () => {
    const wait = rpc({
      id: 'w',
      method: 'tools/call',
      params: { name: 'wait_for_call', arguments: { call_id: 'x' } },
    })
    const cancel = rpc({ method: 'notifications/cancelled', params: { requestId: 'w' } })
    const { answers } = await answersTo(start, [wait, ping('a')], cancel, ping('last'))
    const batchAnswers = answers.find((one): one is Message[] => Array.isArray(one)) ?? []
    expect(batchAnswers.map(({ id }) => id)).toContain('a')
  })

  test.each([
    ['that is empty', []],
    ['of more than a hundred', Array.from({ length: 101 }, (_, id) => ping(id))],
  ])('%s are refused as a whole', async (_, batch) => {
    expect((await answersTo(start, batch)).answers).toMatchObject([
      { id: 0 },
      { id: null, error: { code: -32600 } },
    ])
  })

  test('cannot contain initialize', async () => {
    const { answers } = await answersTo(start, [initialize('2025-03-26', {}, 1), ping(2)])
    expect(answers[1]).toMatchObject([
      { id: 1, error: { code: -32600 } },
      { id: 2, result: {} },
    ])
  })
})

test('a revision that is not served is refused in every request, not only in the first', async () => {
  const versions = ['2099-01-01', '2026-07-27', '2025-11-25', 'x']
  const refusal = (id: number, requested: string) => ({
    id,
    error: { code: -32022, data: { supported: ['2026-07-28'], requested } },
  })
  const first = await answersTo(...versions.map((version, id) => later(id, version)))
  expect(first.answers).toMatchObject(versions.map((version, id) => refusal(id, version)))
  const after = await answersTo(later('one'), ...versions.map((version, id) => later(id, version)))
  expect(after.answers).toHaveLength(versions.length + 1)
  expect(after.answers).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ id: 'one', result: expect.anything() }),
      ...versions.map((version, id) => ({
        jsonrpc: '2.0',
        id,
        error: {
          ...refusal(id, version).error,
          message: `Unsupported protocol version: ${version}`,
        },
      })),
    ]),
  )
})

describe('capabilities of a wrong form', () => {
  test.each<[unknown]>([
    [null],
    [[]],
    [{ elicitation: true }],
    [{ elicitation: { form: true } }],
    [{ elicitation: { form: [] } }],
    [{ roots: { listChanged: 'yes' } }],
    [{ sampling: { tools: 1 } }],
    [{ experimental: { x: 1 } }],
    [{ extensions: { x: null } }],
  ])('%j are refused in one sentence', async (capabilities) => {
    const { answers } = await answersTo(initialize('2025-11-25', capabilities))
    expect(answers).toMatchObject([{ id: 0, error: { code: -32602 } }])
    const [{ error }] = answers as [{ error: { message: string } }]
    expect(error.message).toMatch(/^Invalid params: params\.capabilities/)
    expect(error.message).not.toMatch(/[{\n]/)
    expect(error.message.length).toBeLessThan(200)
  })
})
