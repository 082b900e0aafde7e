import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createClient } from '../../../src/platform/client.ts'
import { createNetworkSender } from '../../../src/platform/network-sender.ts'
import { runToolCall } from '../../../src/tool/run-tool-call.ts'
import { placeCall } from '../../../tools/calls/place-call.ts'
import { errorOf, ToolResult } from '../../harness/client.ts'
import { type Behaviour, envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { sessionOf } from '../../harness/session.ts'

const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Front desk' }
const found = { count: 1, items: [agent] }

/** Sends an endless reply, byte by byte. */
const drip: Behaviour = async (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  while (!response.destroyed) {
    response.write(' ')
    await sleep(20)
  }
}
const busy: Behaviour = (_, response) =>
  json(response, 429, envelope('rate_limit_exceeded'), { 'retry-after': '30' })

/** Minimum time that waiting for the platform takes: its `retry-after`; a reply has 600 s, ms. */
const platformMs = 30_000

/** Places a call on a platform with these behaviours. `ms`: duration of the tool call. */
async function placing(
  behaviours: Record<'name' | 'agent' | 'place', Behaviour>,
  timeLimitMs: number,
) {
  await using platform = await startFakePlatform(
    (request, response, before) => {
      const isNamed = request.url.includes('/agents?')
      const kind = isNamed ? 'name' : request.url.includes('/agents/') ? 'agent' : 'place'
      behaviours[kind](request, response, before)
    },
    { account: 'own' },
  )
  const limits = { headersTimeoutMs: 600_000, totalTimeoutMs: 600_000 }
  const sender = createNetworkSender({
    ...limits,
    baseUrl: new URL(platform.url),
    concurrency: { inAll: 128, perKey: 64, perNetwork: 0 },
    proxy: undefined,
  })
  const client = createClient({ ...limits, send: sender.send, apiKey: 'key', userAgent: 'test' })
  const session = sessionOf(client)
  const timing = { findOutMs: 1500, settledMs: 60_000 }
  const began = performance.now()
  const args = {
    type: 'phone',
    agent_id: agent.name,
    from_number: '+493023125000',
    to_number: '+493023125001',
  }
  const result = await runToolCall(placeCall, args, {
    session: { ...session, callServices: { ...session.callServices, timing } },
    tools: [placeCall],
    timeLimitMs,
    onBug: (error) => {
      throw error
    },
    confirmOf: async () => async () => ({ by: 'off', giveBack: async () => undefined }),
    progress: () => undefined,
    takesTasks: false,
  })
  const ms = performance.now() - began
  await sender.close()
  const posts = platform.seen.filter(({ method }) => method === 'POST').length
  return { ms, posts, result: ToolResult.parse(result) }
}

const named: Behaviour = (_, response) => json(response, 200, found)
const shown: Behaviour = (_, response) => json(response, 200, agent)

describe('placing a call is answered in time, whatever the settings, when the platform', () => {
  test.each([
    ['drips the list of agents that a name is looked up in', { name: drip, agent: shown }],
    ['is busy where the name is looked up', { name: busy, agent: shown }],
    ['drips the agent', { name: named, agent: drip }],
    ['is busy where the agent is read', { name: named, agent: busy }],
  ])('%s; nothing was sent', async (_, behaviours) => {
    const { ms, posts, result } = await placing({ ...behaviours, place: drip }, 1500)
    expect(result.isError).toBe(true)
    expect(errorOf(result).kind).toBe('timeout')
    expect(ms).toBeLessThan(platformMs)
    expect(posts).toBe(0)
  })

  test('sends its reply to the call, and every later reply, byte by byte', async () => {
    const { ms, posts, result } = await placing({ name: named, agent: shown, place: drip }, 8000)
    expect(errorOf(result).kind).toBe('unknown_outcome')
    expect(ms).toBeLessThan(platformMs)
    expect(posts).toBe(1)
  })
})
