import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { initializedVersions } from '../../src/server/tool-summaries.ts'
import { startProgram } from '../harness/program.ts'
import {
  handshakeOf,
  initialize,
  initialized,
  list,
  type Message,
  modern,
  sdkAnswers,
  viewCapabilities,
  withParams,
  withViews,
} from './handshake-answers.ts'

describe('the handshake', () => {
  test.each([
    ...initializedVersions.map((one) => [`initialize ${one}`, [initialize(one)], 1] as const),
    ['a whole beginning', [initialize('2025-11-25'), initialized, list], 2],
    ['a beginning with views', [withViews(initialize('2025-11-25')), initialized, list], 2],
    ['a list', [modern('tools/list')], 1],
    ['a list with views', [modern('tools/list', viewCapabilities)], 1],
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
})

/** Messages that the program prints in answer to these input lines. */
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
