import { afterAll, beforeAll, expect, test } from 'vitest'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { clientKinds, connectHttp } from '../harness/client.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import { startReplicas } from '../harness/replicas.ts'
import { Tally } from '../labs/measure/report.ts'
import { randomOf } from '../labs/random.ts'
import { startTenantPlatform, tenantOf } from '../labs/tenants/tenant-platform.ts'
import { type Asked, TenantUser } from '../labs/tenants/tenant-user.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

const seed = 23
const users = 200
/** Actions per user, of several requests each. */
const acts = 6

/** Outcomes that users may see while the platform fails. */
const expected = new Set([
  ...['ok', 'cancelled', 'rejected', 'unreadable', 'network', 'timeout', 'unknown_outcome'],
  // A resource or the key's account could not be read.
  'not read',
])

test('two hundred users with different keys get no data of each other, while the platform fails', async () => {
  await using platform = await startTenantPlatform({
    seed,
    weights: { late: 10, refused: 4, failed: 6, cutOff: 4 },
    latestMs: 1500,
    callMs: 800,
  })
  await using replicas = await startReplicas(3, {
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_STATE_URL: await server.newDatabase(),
    VOICE_AGENT_SECRET: 's'.repeat(32),
    VOICE_AGENT_CONFIRM: 'always',
    VOICE_AGENT_TIMEOUT: '10',
    VOICE_AGENT_CALL_FIND_OUT: '5',
    VOICE_AGENT_CALL_SETTLE: '3',
    VOICE_AGENT_CATALOG_TTL: '1',
  })
  const outcomes = new Tally()
  const requests = new Tally()
  const onAsked = ({ what, outcome }: Asked) => {
    requests.add(what)
    outcomes.add(outcome)
  }
  const everybody = await Promise.all(
    Array.from({ length: users }, async (_, nth) => {
      const tenant = tenantOf(nth)
      const kind = clientKinds[nth % clientKinds.length] ?? 'v1'
      const client = await connectHttp(kind, replicas.url, { 'x-api-key': tenant.key })
      const random = randomOf(seed, nth)
      return { client, user: new TenantUser(tenant, client, { random, cancelRate: 0.1, onAsked }) }
    }),
  )
  // All users are connected, and 60 act at a time. The balancer spreads their requests over the
  // servers.
  const turns = Array.from({ length: acts }, () => everybody).flat()
  await mapConcurrently(turns, 60, ({ user }) => user.act())
  expect(platform.crossings).toEqual([])
  expect(everybody.flatMap(({ user }) => user.crossings)).toEqual([])
  expect(Object.keys(outcomes.all()).filter((one) => !expected.has(one))).toEqual([])
  let placed = 0
  for (const { user, client } of everybody) {
    await client[Symbol.asyncDispose]()
    const rung = platform.rung(user.tenant)
    for (const [number, times] of rung) expect(times, number).toBe(1)
    for (const [number] of user.placed) expect(rung.get(number)).toBe(1)
    placed += user.placed.size
  }
  // Guards against a run in which an outcome or fault never occurred.
  const { ok = 0, cancelled = 0, ...others } = outcomes.all()
  expect(ok).toBeGreaterThan(users * acts)
  expect(cancelled).toBeGreaterThan(20)
  expect(Object.keys(others).length).toBeGreaterThan(1)
  expect(placed).toBeGreaterThan(100)
  for (const fault of ['late', 'refused', 'failed', 'cutOff'])
    expect(platform.answers()[fault]).toBeGreaterThan(30)
  for (const what of ['tasks/get', 'tasks/cancel', 'subscriptions/listen', 'resources/read'])
    expect(requests.all()[what], what).toBeGreaterThan(5)
  for (const served of replicas.served) expect(served).toBeGreaterThan(500)
}, 300_000)
