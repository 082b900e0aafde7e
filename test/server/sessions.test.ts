import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { serviceConfig } from '../../src/cli/config/service-settings.ts'
import { routes } from '../../src/contract/routes.ts'
import type { Client } from '../../src/platform/client.ts'
import { ApiError, ignoreApiError } from '../../src/platform/failure.ts'
import { noRedaction } from '../../src/platform/key-redaction.ts'
import { createCallServices } from '../../src/server/call-services.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { createKeyCheck, createSessions } from '../../src/server/sessions.ts'
import { openState } from '../../src/server/state.ts'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import { replyCaches } from '../harness/session.ts'

test('a session is kept for a key that the platform has accepted, and for no other', async () => {
  await using platform = await startFakePlatform(({ headers }, response) =>
    headers['x-api-key'] === 'accepted-key'
      ? json(response, 200, { id: 'own' })
      : json(response, 401, envelope('unauthorized')),
  )
  const texts = { 'base-url': platform.url, 'state-dir': ':memory:' }
  const config = serviceConfig(texts, {}, { needsKey: false })
  const onBug = (error: unknown) => expect.unreachable(String(error))
  const opened = await openPlatform(config.platform, onBug)
  const state = await openState(config.state, false)
  const nothing = { observer: undefined, audit: undefined, undoLog: undefined }
  const sessionFor = createSessions({
    ...nothing,
    platform: opened,
    callServices: createCallServices(config.calling, state, nothing),
    config,
    broadcast: state.broadcast,
    onReplyDrift: undefined,
  })
  const sessionOf = (apiKey: string) => sessionFor({ apiKey, source: 'a test' })
  const isKept = async (apiKey: string) => {
    const session = sessionOf(apiKey)
    expect(sessionOf(apiKey)).not.toBe(session)
    const request = { params: {}, query: {} }
    await session.client.call(routes.accounts.current, request).catch(ignoreApiError)
    return sessionOf(apiKey) === session
  }
  expect(await isKept('accepted-key')).toBe(true)
  expect(await isKept('made-up-key')).toBe(false)
  await state.close()
  await opened.close()
})

describe('a check of API keys', () => {
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
})
