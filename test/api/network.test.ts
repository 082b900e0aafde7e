import type { Dispatcher } from 'undici'
import { expect, test, vi } from 'vitest'
import { createNetworkSender } from '../../src/api/network.ts'

const handlers: Dispatcher.DispatchHandler[] = []
// Only a connection that is slow to come shows this, and loopback has none without TLS.
vi.mock('../../src/api/pool.ts', () => ({
  openPool: () => ({
    dispatch: (_: unknown, handler: Dispatcher.DispatchHandler) => handlers.push(handler),
  }),
}))

test('a request given up before there is a connection is not sent when there is one', async () => {
  const { send } = createNetworkSender({
    baseUrl: new URL('https://platform.test'),
    headersTimeoutMs: 10_000,
    totalTimeoutMs: 30_000,
  })
  const giving = new AbortController()
  const sent = send({
    method: 'POST',
    target: '/v1/accounts/me/calls',
    headers: {},
    body: '{}',
    signal: giving.signal,
  })
  await expect.poll(() => handlers.length).toBe(1)
  giving.abort()
  await expect(sent).rejects.toMatchObject({ failure: { kind: 'cancelled', maybeSent: true } })
  const abort = vi.fn<(reason: Error) => void>()
  handlers[0]?.onRequestStart?.({ abort } as unknown as Dispatcher.DispatchController, {})
  expect(abort).toHaveBeenCalledOnce()
})
