import type { JSONRPCMessage } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import type { Client } from '../../../src/api/client.ts'
import { callTaskView } from '../../../src/flows/calls/wait-for-call.ts'
import { createStdioHandshake } from '../../../src/mcp/fast/stdio-handshake.ts'
import { createMcpService } from '../../../src/mcp/mcp-service.ts'
import { everyTool } from '../../../src/mcp/protocol/exposure.ts'
import { createRequestExposure } from '../../../src/mcp/protocol/request-exposure.ts'
import { serverInfoOf } from '../../../src/mcp/protocol/server-info.ts'
import { prompts } from '../../../src/prompts/index.ts'
import { initializedVersions, toolSummaries } from '../../../src/service/tool-summaries.ts'
import { createMemoryUsedTokens } from '../../../src/state/memory/memory-used-tokens.ts'
import { tools } from '../../../tools/index.ts'
import { anyRequest } from '../../harness/any-mcp-request.ts'
import { clientMeta } from '../../harness/mcp-request.ts'
import { startProgram } from '../../harness/program.ts'
import { tries } from '../../harness/property.ts'
import { sessionOf } from '../../harness/session.ts'

const isSandbox = true
const account = undefined
const version = '1.2.3'
const unusedClient: Client = { call: () => Promise.reject(new Error('Nobody is asked')) }

const { factory } = createMcpService({
  exposureFor: createRequestExposure(everyTool(tools)),
  prompts,
  version,
  isSandbox,
  account,
  sessionFor: () => sessionOf(unusedClient),
  callTaskView,
  confirm: 'auto',
  usedTokens: createMemoryUsedTokens(),
  // Requests that need the platform fail here, the same way on both paths.
  onBug: () => undefined,
})

const createHandshake = () =>
  createStdioHandshake({
    isSandbox,
    account,
    confirm: 'auto',
    exposure: everyTool(toolSummaries),
    info: serverInfoOf(isSandbox, version),
    listed: toolSummaries.map(({ listed }) => listed),
    versions: initializedVersions,
  })

type Message = Record<string, unknown>

/** The messages that the handshake handles, with its answers; and the rest, which is the SDK's. */
function handshakeOf(messages: readonly Message[]) {
  const handshake = createHandshake()
  const answers: unknown[] = []
  const replayed: Message[] = []
  for (const [at, message] of messages.entries()) {
    const reply = handshake(message)
    if (!reply) return { answers, replayed, rest: messages.slice(at) }
    if (reply.text !== undefined) answers.push(JSON.parse(reply.text))
    if (reply.mustReplay) replayed.push(message)
  }
  return { answers, replayed, rest: [] }
}

/** The answers of the SDK. */
async function sdkAnswers(messages: readonly Message[]): Promise<Message[]> {
  const answers: JSONRPCMessage[] = []
  const transport = {
    start: async () => undefined,
    close: async () => undefined,
    send: async (message: JSONRPCMessage) => void answers.push(message),
    onmessage: undefined as ((message: JSONRPCMessage) => void) | undefined,
  }
  const handle = serveStdio(factory, { transport, onerror: () => undefined })
  await new Promise(setImmediate)
  for (const message of messages) {
    transport.onmessage?.(message as JSONRPCMessage)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
  await handle.close()
  return JSON.parse(JSON.stringify(answers))
}

/** The answers to a conversation that the handshake begins and the SDK goes on with. */
async function allAnswers(messages: readonly Message[]): Promise<unknown[]> {
  const { answers, replayed, rest } = handshakeOf(messages)
  if (rest.length === 0) return answers
  const replays = replayed.map((one) => ('id' in one ? { ...one, id: replayId } : one))
  const later = await sdkAnswers([...replays, ...rest])
  return [...answers, ...later.filter(({ id }) => id !== replayId)]
}

const replayId = 'an id that no client has'

const clientInfo = { name: 'test', version: '1', title: 'Test' }
const initialize = (protocolVersion: string): Message => ({
  jsonrpc: '2.0',
  id: 0,
  method: 'initialize',
  params: { protocolVersion, capabilities: { roots: { listChanged: true } }, clientInfo },
})
const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
const list = { jsonrpc: '2.0', id: 'two', method: 'tools/list', params: {} }
const modern = (method: string): Message => ({
  jsonrpc: '2.0',
  id: 3,
  method,
  params: { _meta: clientMeta({ elicitation: {} }) },
})

/** Capabilities that a client may declare, mostly valid, at every depth. */
const wrong = fc.constantFrom<unknown>({ x: 1 }, { x: [null] }, true, 1, 'x', null, [])
const mostly = (right: fc.Arbitrary<unknown>) =>
  fc.oneof({ arbitrary: fc.constant(undefined), weight: 8 }, { arbitrary: right, weight: 6 }, wrong)
const empty = fc.constant({})
const some = (parts: Record<string, fc.Arbitrary<unknown>>) => mostly(fc.record(parts))
const oddCapabilities = fc
  .record({
    roots: some({ listChanged: mostly(fc.boolean()) }),
    sampling: some({ tools: mostly(empty), context: mostly(empty) }),
    elicitation: some({ form: some({ applyDefaults: mostly(fc.boolean()) }), url: mostly(empty) }),
    experimental: some({ x: mostly(empty) }),
    extensions: some({ x: mostly(empty) }),
    tasks: mostly(fc.constant(undefined)),
    anything: mostly(fc.constant(undefined)),
  })
  // Without undefined values, as JSON has it.
  .map((value): unknown => JSON.parse(JSON.stringify(value)))

/** The same message with other params. */
const withParams = (message: Message, params: Record<string, unknown>): Message => ({
  ...message,
  params: { ...(message.params as object), ...params },
})

const oddValue = fc.oneof(
  fc.constantFrom<unknown>(null, 1, 1.5, 2 ** 53, '', 'x', [], {}, '2025-03-26', { x: 1 }),
  fc.constantFrom<unknown>({ 'io.modelcontextprotocol/x': 1 }, { progressToken: 1, x: 2 }),
  oddCapabilities,
)

const beginning = fc.constantFrom<Message[]>(
  [],
  [initialize('2025-11-25'), initialized],
  [modern('server/discover')],
  [modern('tools/list')],
)

/** Messages of the handshake and of every other method, some with one odd part. */
const anyMessage = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .record({
        one: fc.constantFrom(
          initialize('2025-06-18'),
          initialized,
          list,
          modern('tools/list'),
          modern('server/discover'),
        ),
        key: fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'none', 'none', 'none'),
        inner: fc.constantFrom('protocolVersion', 'capabilities', 'clientInfo', '_meta', 'x'),
        value: oddValue,
        isDeep: fc.boolean(),
      })
      .map(({ one, key, inner, value, isDeep }): Message => {
        if (key === 'none') return one
        if (!isDeep || key !== 'params') return { ...one, [key]: value }
        return withParams(one, { [inner]: value })
      }),
  },
  {
    weight: 1,
    arbitrary: anyRequest
      .map(({ message }) => message as Message)
      // The SDK would wait for what it asks the client in these.
      .filter(({ method }) => method !== 'tools/call'),
  },
)

describe('the handshake', () => {
  test.each([
    ...initializedVersions.map((one) => [`initialize ${one}`, [initialize(one)], 1] as const),
    ['a whole beginning', [initialize('2025-11-25'), initialized, list], 2],
    ['a list', [modern('tools/list')], 1],
    ['a probe and a list', [modern('server/discover'), modern('tools/list')], 2],
  ] as const)('answers %s as the SDK does', async (_, messages, count) => {
    const { answers } = handshakeOf(messages)
    expect(answers).toHaveLength(count)
    expect(answers).toEqual(await sdkAnswers(messages))
  })

  test.each([
    ['an unknown version', [initialize('2020-01-01')]],
    ['a list before the beginning', [list]],
    ['a list with a cursor', [withParams(modern('tools/list'), { cursor: 'x' })]],
    ['a message with an unknown member', [{ ...modern('tools/list'), extra: 1 }]],
    ['a call', [modern('tools/call')]],
    ['an object that is no message', [{}]],
  ])('leaves %s to the SDK', (_, messages) => {
    expect(handshakeOf(messages)).toEqual({ answers: [], replayed: [], rest: messages })
  })

  test('accepts only capabilities that the SDK accepts, and keeps them for it', async () => {
    let answered = 0
    await fc.assert(
      fc.asyncProperty(oddCapabilities, fc.constantFrom('2025', 'modern'), async (one, era) => {
        const capabilities = one as object
        const message =
          era === '2025'
            ? withParams(initialize('2025-11-25'), { capabilities })
            : withParams(modern('server/discover'), { _meta: clientMeta(capabilities) })
        answered += handshakeOf([message]).answers.length
        expect(await allAnswers([message])).toEqual(await sdkAnswers([message]))
      }),
      tries(1000),
    )
    expect(answered).toBeGreaterThan(100)
  }, 60_000)

  test('and the SDK together answer thousands of messages as the SDK alone does', async () => {
    let answered = 0
    await fc.assert(
      fc.asyncProperty(beginning, fc.array(anyMessage, { maxLength: 5 }), async (first, more) => {
        const messages = [...first, ...more]
        answered += handshakeOf(messages).answers.length
        expect(await allAnswers(messages)).toEqual(await sdkAnswers(messages))
      }),
      tries(1000),
    )
    expect(answered).toBeGreaterThan(700)
  }, 120_000)
})

/** What the program says on standard output to these lines, until their end. */
async function answersOfProgram(lines: readonly unknown[], env: Record<string, string> = {}) {
  await using program = startProgram([], { VOICE_AGENT_SANDBOX_DB: ':memory:', ...env })
  const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  program.process.stdin?.end(`${text.join('\n')}\n`)
  expect(await program.exited).toBe(0)
  const answers = program
    .stdout()
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Message => JSON.parse(line))
  return { answers, ids: answers.map(({ id }) => id), stderr: program.stderr() }
}

const call = (id: number): Message => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'get_current_account', arguments: {} },
})
const begin = [initialize('2025-11-25'), initialized]

const Listed = z.object({
  tools: z.array(z.object({ name: z.string(), inputSchema: z.unknown() })),
})

describe('the program', () => {
  test('goes on with a client where the handshake has stopped, and repeats no answer', async () => {
    const { answers, ids } = await answersOfProgram([...begin, list, call(8), list, call(9)])
    expect(ids.toSorted()).toEqual([0, 8, 9, 'two', 'two'])
    expect(answers.filter(({ error }) => error)).toEqual([])
    const lists = answers.filter(({ id }) => id === 'two')
    expect(lists[0]).toEqual(lists[1])
  })

  test('takes over from a probe of the later revision', async () => {
    const { params, ...rest } = modern('tools/call')
    const named = { ...(params as object), name: 'get_current_account', arguments: {} }
    const later = { ...rest, id: 9, params: named }
    const { answers, ids } = await answersOfProgram([
      modern('server/discover'),
      modern('tools/list'),
      later,
    ])
    expect(ids).toEqual([3, 3, 9])
    expect(answers.filter(({ error }) => error)).toEqual([])
  })

  test('goes on after a line that is not JSON', async () => {
    const { ids } = await answersOfProgram(['{"nothing', ...begin, call(8)])
    expect(ids.toSorted()).toEqual([0, 8, null])
  })

  test('takes a first message that is longer than the handshake looks at', async () => {
    const long = { ...call(8), params: { name: 'x'.repeat(100_000), arguments: {} } }
    const { answers } = await answersOfProgram([...begin, long])
    expect(answers.at(-1)).toMatchObject({ id: 8, error: { code: -32602 } })
  })

  test('lists the exposed tools, and without account_id if an account is pinned', async () => {
    const listedIn = (answers: readonly Message[]) => Listed.parse(answers.at(-1)?.result).tools
    const some = await answersOfProgram([...begin, list], { VOICE_AGENT_TOOLSETS: 'usage' })
    expect(listedIn(some.answers).map(({ name }) => name)).toEqual(['get_usage'])
    expect(JSON.stringify(listedIn(some.answers))).toContain('"account_id"')
    const pinned = await answersOfProgram([...begin, list], {
      VOICE_AGENT_TOOLSETS: 'usage',
      VOICE_AGENT_ACCOUNT: 'me',
    })
    expect(JSON.stringify(listedIn(pinned.answers)[0]?.inputSchema)).not.toContain('account_id')
  })
})
