import { expect, test } from 'vitest'
import { serviceConfig } from '../../src/cli/config/service-settings.ts'
import { routes } from '../../src/contract/routes.ts'
import { ignoreApiError } from '../../src/platform/failure.ts'
import { createCallServices } from '../../src/server/call-services.ts'
import { openPlatform } from '../../src/server/platform.ts'
import { createSessions } from '../../src/server/sessions.ts'
import { openState } from '../../src/server/state.ts'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'

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
