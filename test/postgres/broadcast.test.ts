import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Broadcast } from '../../src/state/broadcast.ts'
import { openDatabase } from '../../src/state/postgres/database.ts'
import { createPostgresBroadcast } from '../../src/state/postgres/postgres-broadcast.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import { startHttpProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { startTcpProxy } from '../harness/tcp-proxy.ts'
import { describeBroadcast } from '../state/conformance/broadcast.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close()
})
function open(url: string): Broadcast {
  const database = openDatabase({ url, setting: 'the test' })
  const broadcast = createPostgresBroadcast(url, database)
  opened.push(broadcast, database)
  return broadcast
}

describeBroadcast('in PostgreSQL', async () => {
  const url = await server.newDatabase()
  return [open(url), open(url)]
})

test.each(['cut', 'freeze'] as const)(
  'a server whose connection was lost (%s) reconnects and receives events',
  async (how) => {
    const url = await server.newDatabase()
    await using network = await startTcpProxy(server.port)
    const [far, near] = [open(network.through(url)), open(url)]
    const heard: string[] = []
    far.listen('written', (topic) => void heard.push(topic))
    const reaches = (topic: string) =>
      expect
        .poll(
          () => {
            near.announce({ kind: 'written', topic })
            return heard.includes(topic)
          },
          { timeout: 60_000, interval: 300 },
        )
        .toBe(true)
    await reaches('first')
    network[how]()
    near.announce({ kind: 'written', topic: 'lost' })
    if (how === 'cut') network.heal()
    // A frozen connection is detected by a periodic query, and replaced once the network is back.
    else setTimeout(() => network.heal(), 25_000)
    await reaches('second')
  },
  90_000,
)

test('malformed notices are ignored', async () => {
  const url = await server.newDatabase()
  const database = openDatabase({ url, setting: 'the test' })
  const broadcast = createPostgresBroadcast(url, database)
  opened.push(broadcast, database)
  const heard: string[] = []
  broadcast.listen('written', (topic) => void heard.push(topic))
  const other = open(url)
  await expect
    .poll(() => {
      other.announce({ kind: 'written', topic: 'right' })
      return heard.length
    })
    .toBeGreaterThan(0)
  const before = heard.length
  for (const payload of ['', 'no JSON', '{}', '{"from":"x","kind":"other","topic":"t"}'])
    await database.check().then(() => notify(url, payload))
  other.announce({ kind: 'written', topic: 'last' })
  await expect.poll(() => heard).toContain('last')
  expect(heard.slice(before).filter((topic) => topic !== 'right' && topic !== 'last')).toEqual([])
})

async function notify(url: string, payload: string): Promise<void> {
  const { default: pg } = await import('pg')
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query("SELECT pg_notify('voice_agent_mcp_changes', $1)", [payload])
  await client.end()
}

describe('a subscriber at one server', () => {
  const agentId = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'
  const agentUri = `voice-agents://agents/${agentId}`
  const modelsUri = 'voice-agents://catalog/models'
  const key = 'sk-0123456789'

  /** Two servers with one platform, and a client that subscribes to a resource at the first. */
  async function listening(uri: string, ofSecond: Record<string, string> = {}) {
    let name = 'Old'
    const platform = await startFakePlatform(
      ({ method, url, body }, res) => {
        if (method === 'PATCH') name = JSON.parse(body).friendly_name ?? JSON.parse(body).name
        if (url.includes('models'))
          return json(res, 200, [{ provider: { code: 'p' }, models: [{ id: name }] }])
        return json(res, 200, { id: agentId, name, friendly_name: name, modified: name })
      },
      { account: 'own' },
    )
    const env = {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_STATE_URL: await server.newDatabase(),
      VOICE_AGENT_SECRET: 's'.repeat(32),
    }
    const [first, second] = await Promise.all([
      startHttpProgram(env),
      startHttpProgram({ ...env, ...ofSecond }),
    ])
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const updates: string[] = []
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updates.push(params.uri)
    })
    const transport = new StreamableHTTPClientTransport(new URL(first.url), {
      requestInit: { headers: { 'X-API-Key': key } },
    })
    await client.connect(transport)
    await client.listen({ resourceSubscriptions: [uri] })
    // Later reads are compared with the first reply.
    await expect.poll(() => platform.seen.length).toBeGreaterThan(0)
    return {
      platform,
      second,
      updates,
      change: (to: string) => {
        name = to
      },
      async [Symbol.asyncDispose]() {
        await client.close()
        for (const one of [first, second, platform]) await one[Symbol.asyncDispose]()
      },
    }
  }

  test('is told within a second of an agent that is changed through another server', {
    retry: 2,
  }, async () => {
    await using set = await listening(agentUri)
    const args = { agent_id: agentId, name: 'New' }
    const { error } = await rpc(
      set.second.url,
      'tools/call',
      { name: 'update_agent', arguments: args },
      { key },
    )
    expect(error).toBeUndefined()
    expect(set.platform.seen.some(({ method }) => method === 'PATCH')).toBe(true)
    // Without the announcement by the other server, the next read would follow a minute later.
    await expect.poll(() => set.updates, { timeout: 1000 }).toEqual([agentUri])
  })

  test('is told within a second of a catalog that any server found changed', {
    retry: 2,
  }, async () => {
    await using set = await listening(modelsUri, { VOICE_AGENT_CATALOG_TTL: '0.3' })
    const other = new Client(
      { name: 'other', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await other.connect(
      new StreamableHTTPClientTransport(new URL(set.second.url), {
        requestInit: { headers: { 'X-API-Key': key } },
      }),
    )
    await other.listen({ resourceSubscriptions: [modelsUri] })
    await expect.poll(() => set.platform.seen.length).toBeGreaterThan(3)
    set.change('New')
    await expect.poll(() => set.updates, { timeout: 1000 + 300 }).toEqual([modelsUri])
    await other.close()
  })
})
