import { expect, test } from 'vitest'
import type { Client } from '../../../src/platform/client.ts'
import { StateError } from '../../../src/state/state-access.ts'
import type { ListedCallOutcome } from '../../../tools/calls/call-list-result.ts'
import { placedListOutcome } from '../../../tools/calls/place-calls.ts'
import { sessionOf } from '../../harness/session.ts'

const placed = (at: number): ListedCallOutcome => ({
  to_number: `+1202555010${at}`,
  outcome: 'placed',
  call_id: `call-${at}`,
  external_id: `auto-${at}`,
})

/** A platform on which calls ring for ever. */
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

test('a list is followed no longer than the request may take', async () => {
  const { session, read } = ringing()
  const began = performance.now()
  const { structured, lines = [] } = await placedListOutcome(
    [placed(1), placed(2)],
    runOf(session, 2000),
  )
  expect(performance.now() - began).toBeLessThan(8000)
  expect(new Set(read)).toEqual(new Set(['call-1', 'call-2']))
  expect(structured).toMatchObject({ ended: false, calls: [{ state: 'ringing' }, {}] })
  expect(structured.summary).toEqual({ placed: 2 })
  expect(lines[0]).toContain(`wait_for_call, batch_id ${structured.batch_id}, account_id own,`)
})

test.each<[string, ListedCallOutcome[], number]>([
  ['that was not dialled to its end', [placed(1), { ...placed(2), outcome: 'not_dialled' }], 5000],
  ['for which no time is left', [placed(1)], 500],
])('a list %s is not followed', async (_, outcomes, forMs) => {
  const { session, read } = ringing()
  const { structured, lines = [] } = await placedListOutcome(outcomes, runOf(session, forMs))
  expect(read).toEqual([])
  expect(structured).not.toHaveProperty('ended')
  expect(lines[0]).toContain(`wait_for_call, batch_id ${structured.batch_id}`)
})

test('a list that cannot be kept as a batch was placed all the same', async () => {
  const { session } = ringing()
  const batches = {
    save: () => Promise.reject(new StateError('disk full')),
    find: async () => undefined,
  }
  const callServices = { ...session.callServices, batches }
  const run = runOf({ ...session, callServices }, 500)
  const { structured, lines = [] } = await placedListOutcome([placed(1)], run)
  expect(structured).toMatchObject({ summary: { placed: 1 } })
  expect(structured).not.toHaveProperty('batch_id')
  expect(lines[0]).toMatch(/wait_for_call, [\w ]*call_id, account_id own,/)
})

test('not all calls have ended while it is not known whether one was placed', async () => {
  const client: Client = {
    call: async (_, { params }) =>
      ({ id: params.call_id, status: 'completed', answer_status: 'human' }) as never,
  }
  const unknown: ListedCallOutcome = {
    to_number: '+12025550102',
    outcome: 'unknown',
    problem: 'The answer was lost.',
  }
  const run = runOf(sessionOf(client), 20_000)
  const { structured, lines = [] } = await placedListOutcome([placed(1), unknown], run)
  expect(structured).toMatchObject({ summary: { placed: 1, unknown: 1 }, ended: false })
  expect(lines[0]).not.toContain('wait_for_call')
  expect(await placedListOutcome([placed(1)], run)).toMatchObject({ structured: { ended: true } })
})
