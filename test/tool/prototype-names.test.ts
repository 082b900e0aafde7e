import { expect, test } from 'vitest'
import { tools } from '../../tools/index.ts'
import { connectHttp, connectStdio, type TestClient } from '../harness/client.ts'
import { everyTool } from '../harness/every-tool.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { startHttpProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'

/** Names that every JavaScript object inherits. A lookup by a caller's text must not find them. */
const words = ['constructor', '__proto__']

/** Forms in which a caller can send a word: text, list, object, template. */
const formsOf = (word: string) => [
  word,
  [word],
  JSON.parse(`{ "${word}": "x" }`),
  [JSON.parse(`{ "${word}": { "${word}": 1 } }`)],
  `{{ ${word} | ${word} }}`,
]

test('a name of Object.prototype is ordinary text in each argument of each tool', async () => {
  await using program = await startHttpProgram()
  await using client = await connectHttp('v2 2026-07-28', program.url)
  const valid = new Map<string, Record<string, unknown>>()
  const recording: TestClient = {
    ...client,
    call: (name, args = {}) => {
      valid.set(name, args)
      return client.call(name, args)
    },
  }
  await everyTool(recording)
  let calls = 0
  for (const { name, inputSchema } of tools) {
    const names = [...Object.keys(inputSchema().properties ?? {}), 'constructor']
    for (const value of words.flatMap(formsOf)) {
      const results = await Promise.all(
        names.map((argument) =>
          client.call(name, {
            ...valid.get(name),
            // Ends the wait at once.
            ...(name === 'wait_for_call' && { timeout_seconds: 1 }),
            [argument]: value,
          }),
        ),
      )
      calls += results.length
      for (const [at, result] of results.entries()) {
        const text = JSON.stringify(result)
        const where = `${name} ${names[at]} ${JSON.stringify(value)}: ${text.slice(0, 300)}`
        expect(text.includes('"internal"'), where).toBe(false)
        expect(/native code|\[object Object\]/.test(text), where).toBe(false)
      }
    }
  }
  expect(calls).toBeGreaterThan(1000)
  expect(program.stderr()).not.toMatch(/\bat .*\.[jt]s:\d+/)
}, 120_000)

test('a name of Object.prototype is ordinary text in prompts, resources, completions and headers', async () => {
  await using program = await startHttpProgram()
  for (const word of words) {
    const ref = { type: 'ref/prompt', name: 'design_agent' }
    const template = { type: 'ref/resource', uri: `voice-agents://agents/{${word}}` }
    const prompt = { name: 'design_agent', arguments: { [word]: word } }
    const asked = [
      ['tools/call', { name: word, arguments: {} }],
      ['prompts/get', { name: word, arguments: {} }],
      ['prompts/get', prompt],
      ['resources/read', { uri: word }],
      ['resources/read', { uri: `voice-agents://${word}/${word}` }],
      ['completion/complete', { ref, argument: { name: word, value: word } }],
      ['completion/complete', { ref: template, argument: { name: word, value: word } }],
      [word, {}],
    ] as const
    for (const [method, params] of asked) {
      const { error } = await rpc(program.url, method, { ...params })
      expect([undefined, -32601, -32602], `${method} ${word}`).toContain(error?.code)
    }
    for (const header of [
      'x-mcp-toolsets',
      'x-mcp-tools',
      'x-mcp-exclude-tools',
      'x-mcp-readonly',
    ]) {
      const response = await fetch(program.url, {
        ...mcpHttpRequest('tools/list'),
        headers: { ...mcpHttpRequest('tools/list').headers, [header]: word },
      })
      expect(response.status, header).toBeLessThan(500)
    }
  }
  expect(program.stderr()).not.toMatch(/\bat .*\.[jt]s:\d+/)
})

test('a name of Object.prototype is ordinary text in replies of the platform', async () => {
  const word = 'constructor'
  const said = {
    id: word,
    name: word,
    status: word,
    type: word,
    direction: word,
    answer_status: word,
  }
  const lists = {
    items: [said],
    count: 1,
    messages: [{ role: word, message: word }],
    provider: word,
  }
  await using platform = await startFakePlatform(
    ({ method }, response) =>
      method === 'GET'
        ? json(response, 200, { ...said, ...lists })
        : json(response, 422, {
            ...{ code: word, message: word, detail: word },
            errors: [{ field: `body.${word}`, message: word, type: word }],
          }),
    { account: 'own' },
  )
  await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
  await using client = await connectHttp('v2 2026-07-28', program.url, { 'x-api-key': 'some-key' })
  for (const [name, result] of await everyTool(client)) {
    const text = JSON.stringify(result)
    expect(text.includes('"internal"') || /native code/.test(text), `${name}: ${text}`).toBe(false)
  }
}, 60_000)

test('the argument __proto__ is refused, because JavaScript would drop it', async () => {
  await using program = await startHttpProgram()
  const hidden = JSON.parse('{ "__proto__": 1 }')
  const call = { name: 'get_current_account', arguments: hidden }
  const refused = { code: -32602, message: expect.stringContaining('__proto__') }
  expect((await rpc(program.url, 'tools/call', call)).error).toMatchObject(refused)
  // A request of the 2025 revisions and a batch of them.
  const one = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: call }
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
  }
  for (const [message, id] of [
    [one, 7],
    [[one], null],
  ]) {
    const request = { method: 'POST', headers, body: JSON.stringify(message) }
    const answer = await (await fetch(program.url, request)).json()
    expect(answer).toMatchObject({ id, error: refused })
  }
  await using client = await connectStdio('v2 2025')
  await expect(client.call('get_current_account', hidden)).rejects.toMatchObject(refused)
})
