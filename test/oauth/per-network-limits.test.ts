import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { registeredClient } from '../harness/oauth-flow.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'

/*
 * Limits of what anybody can create: registered clients and authorization requests. Time is
 * simulated, because rate limits per minute apply, too.
 */

const timeout = 60_000
const attacker = '203.0.113.1'
const other = '203.0.113.2'

afterEach(() => void vi.useRealTimers())

async function start(): Promise<OauthServer> {
  vi.useFakeTimers({ toFake: ['performance'] })
  const server = await startOauthServer({
    texts: { 'trusted-proxies': '127.0.0.1', 'max-requests-per-address': '0' },
  })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

async function statusOf(url: string | URL, init: RequestInit): Promise<number> {
  const response = await fetch(url, { ...init, redirect: 'manual' })
  await response.text()
  return response.status
}

const register = ({ url }: OauthServer, address: string) =>
  statusOf(`${url}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify({ redirect_uris: ['https://a.example.com/callback'] }),
  })

/**
 * Sends `perMinute` requests each simulated minute until one returns another status. Returns how
 * many succeeded.
 */
async function countUntilRefused(
  send: () => Promise<number>,
  { perMinute, status }: { perMinute: number; status: number },
): Promise<number> {
  let count = 0
  for (let minute = 0; minute < 100; minute++) {
    vi.advanceTimersByTime(61_000)
    const statuses = await Promise.all(Array.from({ length: perMinute }, send))
    const taken = statuses.filter((one) => one === status).length
    count += taken
    if (taken < perMinute) return count
  }
  return count
}

test('one network cannot take the room of all who register, and what a person has allowed takes none', {
  timeout,
}, async () => {
  const server = await start()
  // Registered from loopback, as the many clients after it.
  const flow = await registeredClient(server)
  const { refresh_token = '' } = await flow.tokens()
  const again = () => register(server, '127.0.0.1')
  expect(await countUntilRefused(again, { perMinute: 30, status: 201 })).toBe(2000)
  expect(await register(server, other)).toBe(201)
  // A client with a user's grant stays registered.
  expect(await flow.refresh(refresh_token)).toHaveProperty('access_token')
})

test('one network cannot take the room of all who ask for access', { timeout }, async () => {
  const server = await start()
  const { url } = await (await registeredClient(server)).authorizationUrl()
  const ask = (address: string) => statusOf(url, { headers: { 'x-forwarded-for': address } })
  const again = () => ask(attacker)
  expect(await countUntilRefused(again, { perMinute: 300, status: 303 })).toBe(2000)
  vi.advanceTimersByTime(61_000)
  expect(await ask(attacker)).toBe(503)
  expect(await ask(other)).toBe(303)
})
