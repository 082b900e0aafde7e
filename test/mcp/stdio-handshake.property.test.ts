import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyRequest } from '../harness/any-mcp-request.ts'
import { clientMeta } from '../harness/mcp-request.ts'
import { tries } from '../harness/property.ts'
import {
  allAnswers,
  handshakeOf,
  initialize,
  initialized,
  list,
  type Message,
  modern,
  sdkAnswers,
  withParams,
} from './handshake-answers.ts'

/** Arbitrary client capabilities: mostly valid, with wrong values at any depth. */
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
  // Through JSON, which drops undefined values.
  .map((value): unknown => JSON.parse(JSON.stringify(value)))

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

/** Arbitrary messages of the handshake and of all other methods, some with one wrong part. */
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
      // Leaves out tools/call, because the SDK would wait for answers to elicitations.
      .filter(({ method }) => method !== 'tools/call'),
  },
)

test('the handshake accepts only capabilities that the SDK accepts, and keeps them for it', async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(oddCapabilities, fc.constantFrom('2025', 'modern'), async (one, protocol) => {
      const capabilities = one as object
      const message =
        protocol === '2025'
          ? withParams(initialize('2025-11-25'), { capabilities })
          : withParams(modern('server/discover'), { _meta: clientMeta(capabilities) })
      answered += handshakeOf([message]).answers.length
      expect(await allAnswers([message])).toEqual(await sdkAnswers([message]))
    }),
    tries(1000),
  )
  expect(answered).toBeGreaterThan(100)
}, 60_000)

test('the handshake and the SDK together answer thousands of messages as the SDK alone does', async () => {
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
