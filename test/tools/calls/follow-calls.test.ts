import { expect, test } from 'vitest'
import { createClient } from '../../../src/platform/client.ts'
import { withFollowProgress } from '../../../tools/calls/follow-calls.ts'
import { sessionOf } from '../../harness/session.ts'

const client = createClient({
  send: () => Promise.reject(new Error('nothing is sent')),
  apiKey: 'key',
  userAgent: 'test',
})

/** Follows a call that changes and ends at once. Returns the times of progress, and the result. */
async function following(forMs: number) {
  const progress: number[] = []
  const run = {
    session: sessionOf(client),
    signal: undefined,
    shutdown: undefined,
    progress: () => void progress.push(performance.now()),
  }
  await withFollowProgress(run, { forMs }, async ({ report }) => report(() => 'ringing, 0 s'))
  return { progress, ended: performance.now() }
}

test('a result never comes right after a progress message', async () => {
  const { progress, ended } = await following(60_000)
  expect(progress).toHaveLength(1)
  // A timer may fire 1 ms early.
  expect(ended - Number(progress[0])).toBeGreaterThan(240)
})

test('no progress message comes right before the deadline', async () => {
  expect((await following(1400)).progress).toEqual([])
})
