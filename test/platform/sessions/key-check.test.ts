import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { routes } from '../../../src/contract/routes.ts'
import type { Client } from '../../../src/platform/client.ts'
import { ApiError } from '../../../src/platform/failure.ts'
import { noRedaction } from '../../../src/platform/key-redaction.ts'
import { createKeyCheck } from '../../../src/platform/sessions/key-check.ts'
import { replyCaches } from '../../harness/session.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

/** A key whose requests fail with this status. `asked`: number of checks. */
function keyThat(status: number) {
  let asked = 0
  const client: Client = {
    call: async () => {
      asked++
      const failure = { kind: 'rejected', status, code: 'x', message: 'No.' } as const
      const details = { detail: null, errors: [], requestId: null, retryAfter: null }
      throw new ApiError({ ...failure, ...details }, { ...routes.accounts.current, attempts: 1 })
    },
  }
  const cache = replyCaches()('a key', client)
  const session = { cache, keyHash: 'an keyHash', keySource: 'a test', redact: noRedaction }
  const checkKey = createKeyCheck()
  return { asked: () => asked, check: () => checkKey(session) }
}

test('a refused API key is checked again only after some seconds', async () => {
  const key = keyThat(401)
  for (const _ of [1, 2, 3]) expect(await key.check()).toMatchObject({ status: 401 })
  expect(key.asked()).toBe(1)
  vi.advanceTimersByTime(11_000)
  expect(await key.check()).toMatchObject({ status: 401 })
  expect(key.asked()).toBe(2)
})

test('an API key is checked again at once if the platform could not be asked', async () => {
  const key = keyThat(500)
  for (const _ of [1, 2]) expect(await key.check()).toMatchObject({ status: 503 })
  expect(key.asked()).toBe(2)
})
