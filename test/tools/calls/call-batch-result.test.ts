import { expect, onTestFinished, test, vi } from 'vitest'
import type { Client } from '../../../src/platform/client.ts'
import { StateError } from '../../../src/state/state-access.ts'
import { fitsTokens } from '../../../src/text/token-estimate.ts'
import { resultBudget } from '../../../src/tool/results/shortening.ts'
import {
  type BatchCall,
  type BatchOutcome,
  batchLines,
  placedBatchOutcome,
} from '../../../tools/calls/call-batch-result.ts'
import { sessionOf } from '../../harness/session.ts'

const placed = (at: number): BatchOutcome => ({
  to_number: `+1202555010${at}`,
  outcome: 'placed',
  call_id: `call-${at}`,
  external_id: `auto-${at}`,
})

/** A platform on which calls never end. */
function ringing() {
  const read: string[] = []
  const client: Client = {
    async call(_, { params }) {
      read.push(String(params.call_id))
      return { id: params.call_id, status: 'in_progress', answer_status: 'waiting' } as never
    },
  }
  return { session: sessionOf(client), read }
}

const runOf = (session: ReturnType<typeof sessionOf>, forMs: number) => ({
  request: { params: { account_id: 'own' }, query: {} },
  options: { follow: true },
  callOwner: 'own',
  answerBy: performance.now() + forMs,
  signal: undefined,
  progress: () => undefined,
  session,
})

test('a batch is followed no longer than the request may take', async () => {
  const { session, read } = ringing()
  vi.useFakeTimers({ fakeNodeBuiltins: true })
  onTestFinished(() => void vi.useRealTimers())
  const began = performance.now()
  const outcome = placedBatchOutcome([placed(1), placed(2)], runOf(session, 2000)).then(
    (result) => ({ ...result, ms: performance.now() - began }),
  )
  await vi.advanceTimersByTimeAsync(60_000)
  const { structured, lines = [], ms } = await outcome
  expect(ms).toBe(2000)
  expect(new Set(read)).toEqual(new Set(['call-1', 'call-2']))
  expect(structured).toMatchObject({ ended: false, calls: [{ state: 'ringing' }, {}] })
  expect(structured.summary).toEqual({ placed: 2 })
  expect(lines[0]).toContain(`wait_for_call, batch_id ${structured.batch_id}, account_id own,`)
})

test.each<[string, BatchOutcome[], number]>([
  ['that was not dialled to its end', [placed(1), { ...placed(2), outcome: 'not_dialled' }], 5000],
  ['for which no time is left', [placed(1)], 500],
])('a batch %s is not followed', async (_, outcomes, forMs) => {
  const { session, read } = ringing()
  const { structured, lines = [] } = await placedBatchOutcome(outcomes, runOf(session, forMs))
  expect(read).toEqual([])
  expect(structured).not.toHaveProperty('ended')
  expect(lines[0]).toContain(`wait_for_call, batch_id ${structured.batch_id}`)
})

test('a batch that cannot be stored is placed nevertheless', async () => {
  const { session } = ringing()
  const batches = {
    save: () => Promise.reject(new StateError('disk full')),
    find: async () => undefined,
  }
  const callServices = { ...session.callServices, batches }
  const run = runOf({ ...session, callServices }, 500)
  const { structured, lines = [] } = await placedBatchOutcome([placed(1)], run)
  expect(structured).toMatchObject({ summary: { placed: 1 } })
  expect(structured).not.toHaveProperty('batch_id')
  expect(lines[0]).toMatch(/wait_for_call, [\w ]*call_id, account_id own,/)
})

test('a batch has not ended while it is unknown whether a call was placed', async () => {
  const client: Client = {
    call: async (_, { params }) =>
      ({ id: params.call_id, status: 'completed', answer_status: 'human' }) as never,
  }
  const unknown: BatchOutcome = {
    to_number: '+12025550102',
    outcome: 'unknown',
    problem: 'The answer was lost.',
  }
  const run = runOf(sessionOf(client), 20_000)
  const { structured, lines = [] } = await placedBatchOutcome([placed(1), unknown], run)
  expect(structured).toMatchObject({ summary: { placed: 1, unknown: 1 }, ended: false })
  expect(lines[0]).not.toContain('wait_for_call')
  expect(await placedBatchOutcome([placed(1)], run)).toMatchObject({ structured: { ended: true } })
})

const listed = (count: number): BatchCall[] =>
  Array.from({ length: count }, (_, at) => ({
    to_number: `+1202555${1000 + at}`,
    outcome: 'placed',
    call_id: `5b6c8a1e-5d0e-4f43-9a67-0c55d7f0${1000 + at}`,
    state: at % 2 === 0 ? 'answered' : 'not_answered',
    duration_seconds: at,
    ...(at % 2 === 0 && { last_words: 'Yes, that suits me well, thank you. '.repeat(3) }),
  }))

test('a batch is shown with the id of each call, also of unanswered calls', () => {
  const lines = batchLines(listed(2))
  expect(lines[0]).toMatch(/^[\w ]+: \+12025551000 \(call_id 5b6c[\w-]+, 0 s\)$/)
  expect(lines[1]).toMatch(/^[\w ]+: \+12025551001 \(call_id 5b6c[\w-]+\)$/)
})

test('the longest batch is shown with all numbers, and only the ids of unanswered calls', () => {
  const calls = listed(100)
  const text = batchLines(calls).join('\n')
  expect(fitsTokens(text, resultBudget)).toBe(true)
  for (const { to_number, call_id = '', state } of calls) {
    expect(text).toContain(to_number)
    expect(text.includes(call_id)).toBe(state === 'not_answered')
  }
  expect(text).toMatch(/call_id.*structuredContent.*list_calls/)
})

const call = (to_number: string, more: Partial<BatchCall> = {}): BatchCall => ({
  to_number,
  outcome: 'placed',
  ...more,
})

test('calls to the same number are distinguished by their position in the batch', () => {
  const calls = [
    call('+12025550101', { state: 'busy', call_id: 'a' }),
    call('+12025550102', { state: 'busy', call_id: 'b' }),
    call('+12025550101', { state: 'answered', call_id: 'c', last_words: 'Yes' }),
  ]
  const lines = batchLines(calls)
  expect(lines[0]).toMatch(/: \+12025550101 \[call 3\] \(call_id c\)$/)
  expect(lines[1]).toMatch(/: \+12025550101 \[call 1\] \(call_id a\), \+12025550102 \(call_id b\)$/)
  expect(lines).toContain('+12025550101 [call 3] user: Yes')
})

test('equal openings are shown once, between the marks of untrusted speech', () => {
  const lines = batchLines([
    call('+12025550101', { state: 'answered', opening: 'Hello Ann', last_words: 'Yes' }),
    call('+12025550102', { state: 'machine', opening: 'Hello' }),
    call('+12025550103', { state: 'answered', opening: 'Hello' }),
    call('+12025550104', { state: 'busy' }),
  ])
  const start = lines.findIndex((line) => line.startsWith('<untrusted-speech'))
  expect(lines.slice(start + 1, start + 4)).toEqual([
    '+12025550101 agent: Hello Ann',
    '+12025550102, +12025550103 agent: Hello',
    '+12025550101 user: Yes',
  ])
  expect(lines[start + 4]).toMatch(/^<\/untrusted-speech/)
})

test('calls to the same number are distinguished in a long batch too', () => {
  const calls = Array.from({ length: 30 }, (_, at) => call(`+1202555${1000 + (at % 29)}`))
  const [line] = batchLines(calls)
  expect(line).toMatch(
    /^placed: \+12025551000 \[call 1\], \+12025551001, .*\+12025551000 \[call 30\]$/,
  )
})
