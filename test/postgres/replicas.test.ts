import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { mapConcurrently } from '../../src/platform/map-concurrently.ts'
import { NoRow, openDatabase } from '../../src/state/postgres/database.ts'
import { connectPerson, yes } from '../harness/answering-client.ts'
import { clientKinds, connectHttp, ToolResult } from '../harness/client.ts'
import { examine } from '../harness/doctor.ts'
import { envelope, json, startFakePlatform } from '../harness/fake-platform.ts'
import {
  type PostgresServer,
  settableDatabaseClock,
  startPostgres,
} from '../harness/postgres-server.ts'
import { startHttpProgram, startProgram } from '../harness/program.ts'
import { type Replicas, startReplicas } from '../harness/replicas.ts'
import { rpc } from '../harness/rpc.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'
import { settableClock } from '../harness/settable-clock.ts'
import { randomOf } from '../labs/random.ts'
import { startFaultyPlatform } from '../labs/stress/faulty-platform.ts'
import { judge } from '../labs/stress/find-violations.ts'
import { stressSettings } from '../labs/stress/killed-servers.ts'
import {
  type Answer,
  answerOf,
  type CallPlacer,
  isPlaced,
  place,
  placementsOf,
  type StressPlacement,
} from '../labs/stress/placements.ts'
import { confirmedCalls } from '../state/confirm-across-servers.ts'

/*
 * Three servers, each a process of the built program, on a real PostgreSQL and behind a round-robin
 * load balancer.
 */

const key = 'sk-0123456789'
const secret = 's'.repeat(32)
const agent = { id: '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11', name: 'Wired' }
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

const shared = async () => ({
  VOICE_AGENT_STATE_URL: await server.newDatabase(),
  VOICE_AGENT_SECRET: secret,
})

/** Places calls through the balancer. The caller repeats requests without an answer. */
const placerOf = (replicas: Replicas): CallPlacer => ({
  async place(args): Promise<Answer> {
    const call = { name: 'place_call', arguments: args }
    const answer = await rpc(replicas.url, 'tools/call', call, { key }).catch(() => undefined)
    // The server was killed, or no server was up.
    if (!answer) return { kind: 'dead' }
    if (answer.error) throw new Error(answer.error.message)
    return answerOf(ToolResult.parse(answer.result))
  },
})

test('a thousand calls are placed once each, while servers are killed and the platform fails', async () => {
  const seed = 11
  await using platform = await startFaultyPlatform(seed)
  const env = {
    ...stressSettings(platform.url),
    ...(await shared()),
    // Allows for three servers, PostgreSQL and the test on one machine.
    VOICE_AGENT_HEADERS_TIMEOUT: '1',
    VOICE_AGENT_TIMEOUT: '1.5',
  }
  await using replicas = await startReplicas(3, env)
  const placements: StressPlacement[] = []
  const done = new AbortController()
  const killing = replicas.killRepeatedly(150, randomOf(seed, 'kills'), done.signal)
  const placer = placerOf(replicas)
  const isEnough = () =>
    replicas.kills >= 5 &&
    replicas.served.every((count) => count > 100) &&
    placements.filter(isPlaced).length > 400
  // On a busy machine more calls fail, so more follow.
  do {
    const more = placementsOf(1000, seed, placements.length)
    placements.push(...more)
    await mapConcurrently(more, 60, (placement) => place(placement, [placer], 8))
  } while (!isEnough())
  done.abort()
  await killing
  await platform.settled()
  const { violations } = judge(placements, platform.platform)
  expect(violations).toEqual([])
}, 900_000)

test('a call is not placed again after all clocks were set forward', async () => {
  await using platform = await startRunningCallsPlatform()
  const env = { ...(await shared()), VOICE_AGENT_BASE_URL: platform.url, ...settableClock }
  const database = openDatabase({ url: env.VOICE_AGENT_STATE_URL, setting: 'the test' })
  await using closing = new AsyncDisposableStack()
  closing.defer(database.close)
  const clock = settableDatabaseClock(env.VOICE_AGENT_STATE_URL)
  for (const sql of clock.setUp) await database.run(NoRow, sql)
  const servers = await Promise.all([0, 1].map(() => startHttpProgram(env)))
  for (const server of servers) closing.use(server)
  const number = '+493023125601'
  const call = { type: 'phone', agent_id: platform.agent.id, from_number: '+493023125000' }
  const placeAt = async (url = '') => {
    const args = { name: 'place_call', arguments: { ...call, to_number: number } }
    return ToolResult.parse((await rpc(url, 'tools/call', args, { key })).result).structuredContent
  }
  expect(await placeAt(servers[0]?.url)).toMatchObject({ repeated: false })
  await database.run(NoRow, clock.set, [3_600_000])
  for (const { process } of servers) process.kill('SIGUSR2')
  for (const { url } of servers) expect(await placeAt(url)).toMatchObject({ repeated: true })
  expect(platform.dialled).toHaveLength(1)
})

describe('three servers', () => {
  let platform: Awaited<ReturnType<typeof startRunningCallsPlatform>>
  let replicas: Replicas
  let url: string
  let calls: ReturnType<typeof confirmedCalls>
  beforeAll(async () => {
    platform = await startRunningCallsPlatform()
    const env = await shared()
    url = env.VOICE_AGENT_STATE_URL
    calls = confirmedCalls({ agentId: platform.agent.id, key })
    replicas = await startReplicas(3, {
      ...env,
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_CONFIRM: 'always',
    })
  }, 60_000)
  afterAll(async () => {
    await replicas[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })

  const dialledTo = (number: string) =>
    platform.dialled.filter(({ to_number }) => to_number === number).length

  /** Deletes the journal, so that only the used confirmation can prevent a second call. */
  const forgetCalls = async () => {
    const database = openDatabase({ url, setting: 'the test' })
    await database.run(NoRow, 'DELETE FROM voice_agent_mcp.calls')
    await database.close()
  }

  test.each(clientKinds)('serve a %s client, whichever of them is asked', async (kind) => {
    await using client = await connectHttp(kind, replicas.url, { 'x-api-key': key })
    for (let nth = 0; nth < 3; nth++) {
      expect((await client.listTools()).length).toBeGreaterThan(20)
      expect((await client.listResources()).resources.length).toBeGreaterThan(0)
      expect(await client.value('get_agent', { agent_id: platform.agent.id })).toHaveProperty('id')
    }
  })

  test('accept a token of any of them once', async () => {
    const number = '+493023125101'
    const [first = '', second = '', third = ''] = replicas.urls
    const token = await calls.token(first, number)
    expect((await calls.withToken(second, number, token)).isError).toBeFalsy()
    expect(dialledTo(number)).toBe(1)
    await forgetCalls()
    for (const url of [first, second, third]) {
      const again = await calls.withToken(url, number, token)
      expect(again.structuredContent).toHaveProperty('confirmation.state', 'needed')
    }
    expect(dialledTo(number)).toBe(1)
  })

  test('accept a token once, even if all get it concurrently', async () => {
    const number = '+493023125102'
    const token = await calls.token(replicas.url, number)
    await Promise.all(
      Array.from({ length: 12 }, () => calls.withToken(replicas.url, number, token)),
    )
    expect(dialledTo(number)).toBe(1)
  })

  test('accept an answer to a question of any of them once', async () => {
    const number = '+493023125103'
    const [first = '', second = '', third = ''] = replicas.urls
    const state = await calls.question(first, number)
    expect((await calls.answered(second, number, state)).error).toBeUndefined()
    expect(dialledTo(number)).toBe(1)
    await forgetCalls()
    for (const url of [first, second, third])
      expect((await calls.answered(url, number, state)).error?.message).toMatch(/answered before/)
    expect(dialledTo(number)).toBe(1)
  })

  test('place no call while an operator has stopped calls, and place calls after they resume', async () => {
    const number = '+493023125107'
    const operator = async (...words: string[]) => {
      await using program = startProgram(['calls', ...words], { VOICE_AGENT_STATE_URL: url })
      expect(await program.exited).toBe(0)
      return program.stdout()
    }
    expect(await operator('status')).toContain('not stopped')
    const token = await calls.token(replicas.url, number)
    expect(await operator('stop', '--by', 'Ada', '--reason', 'wrong list')).toContain('wrong list')
    await replicas.restart(0, 'SIGTERM')
    for (const at of replicas.urls) {
      const { _meta, content } = await calls.withToken(at, number, token)
      expect(_meta?.['voice-agent-mcp/error']).toMatchObject({ rule: 'calls_stopped' })
      expect(content[0]?.text).toContain('by Ada: wrong list')
    }
    const { check } = await examine({
      VOICE_AGENT_STATE_URL: url,
      VOICE_AGENT_SECRET: secret,
      VOICE_AGENT_BASE_URL: platform.url,
    })
    expect(check('calls')).toMatchObject({ status: 'yellow', text: expect.stringContaining('Ada') })
    expect(dialledTo(number)).toBe(0)
    await operator('resume')
    const [, second = ''] = replicas.urls
    expect((await calls.withToken(second, number, token)).isError).toBeFalsy()
    expect(dialledTo(number)).toBe(1)
  })

  test('ask a person through a client of the SDK', async () => {
    const number = '+493023125104'
    await using person = await connectPerson('v2 2026-07-28', {
      url: replicas.url,
      headers: { 'x-api-key': key },
      answer: yes,
    })
    await person.value('place_call', {
      type: 'phone',
      agent_id: platform.agent.id,
      from_number: '+493023125000',
      to_number: number,
    })
    expect(person.asked).toHaveLength(1)
    expect(dialledTo(number)).toBe(1)
  })

  test('cancel a request that another of them serves', async () => {
    const number = '+493023125106'
    const token = await calls.token(replicas.url, number)
    const placed = await calls.withToken(replicas.url, number, token)
    const id = String(placed.structuredContent?.id)
    await using client = await connectPerson('v1', {
      url: replicas.url,
      headers: { 'x-api-key': key },
    })
    const cancelling = new AbortController()
    const waiting = client.call('wait_for_call', { call_id: id }, { signal: cancelling.signal })
    const ended = expect(waiting).rejects.toThrow()
    await expect.poll(() => platform.reads(id)).toBeGreaterThan(1)
    cancelling.abort()
    await ended
    // The call continues, but the cancelled request no longer causes reads.
    await sleep(3000)
    const reads = platform.reads(id)
    await sleep(5000)
    expect(platform.reads(id)).toBe(reads)
  })

  test('cancel a task for all of them', async () => {
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } }
    const [first = '', second = '', third = ''] = replicas.urls
    const ask = (at: string, method: string, params: Record<string, unknown>) =>
      rpc(at, method, params, { capabilities, key })
    const args = {
      type: 'phone',
      agent_id: platform.agent.id,
      from_number: '+493023125000',
      to_number: '+493023125105',
      follow: true,
    }
    const follow = (more: object) =>
      ask(first, 'tools/call', { name: 'place_call', arguments: { ...args, ...more } })
    const preview = ToolResult.parse((await follow({})).result)
    const { confirm_token } = Object(preview.structuredContent).confirmation
    const { taskId } = (await follow({ confirm_token })).result
    expect((await ask(second, 'tasks/get', { taskId })).result.status).toBe('working')
    expect((await ask(third, 'tasks/cancel', { taskId })).error).toBeUndefined()
    for (const at of [first, second, third])
      expect((await ask(at, 'tasks/get', { taskId })).result.status).toBe('cancelled')
  })
})

test.each([
  ['was placed', true],
  ['was never placed', false],
])(
  'what another of them finds out of a call whose answer was lost, that it %s, settles its permit',
  async (_, isPlaced) => {
    const number = '+493023125401'
    let isWell = false
    let hasEnded = false
    const dialled: Record<string, unknown>[] = []
    const shown = (call: object) => ({ ...call, status: hasEnded ? 'completed' : 'in_progress' })
    await using platform = await startFakePlatform(
      ({ method, url, body }, res) => {
        if (url.includes('/agents')) return json(res, 200, agent)
        if (method === 'POST') {
          if (isWell || isPlaced)
            dialled.push({ ...JSON.parse(body), id: `call-${dialled.length}` })
          return isWell ? json(res, 201, shown(dialled.at(-1) ?? {})) : void res.destroy()
        }
        if (!isWell) return json(res, 500, envelope('internal_error'))
        const [, id] = /\/calls\/([^?]+)/.exec(url) ?? []
        if (id) return json(res, 200, shown(dialled.find((call) => call.id === id) ?? {}))
        const wanted = new URL(url, 'http://platform').searchParams.get('external_id')
        const items = dialled.filter(({ external_id }) => external_id === wanted).map(shown)
        return json(res, 200, { items, count: items.length })
      },
      { account: 'own' },
    )
    await using replicas = await startReplicas(3, {
      ...(await shared()),
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_DIAL_POLICY: '{"max_at_once": 1}',
      VOICE_AGENT_CALL_FIND_OUT: '1',
      VOICE_AGENT_CALL_SETTLE: '2',
    })
    const [first = '', second = '', third = ''] = replicas.urls
    const placeAt = async (url: string, to_number: string) => {
      const args = { type: 'phone', agent_id: agent.id, from_number: '+493023125000', to_number }
      const call = { name: 'place_call', arguments: args }
      const { result } = await rpc(url, 'tools/call', call, { key })
      return answerOf(ToolResult.parse(result))
    }
    expect(await placeAt(first, number)).toMatchObject({ kind: 'unknown' })
    isWell = true
    expect(await placeAt(third, '+493023125402')).toMatchObject({ why: 'not_allowed' })
    await expect
      .poll(() => placeAt(second, number), { timeout: 20_000, interval: 500 })
      .toMatchObject({ kind: 'placed', isRepeat: isPlaced })
    expect(dialled).toHaveLength(1)
    // The call counts towards the limit until it has ended.
    expect(await placeAt(third, '+493023125402')).toMatchObject({ why: 'not_allowed' })
    hasEnded = true
    expect(await placeAt(third, '+493023125402')).toMatchObject({ kind: 'placed' })
    expect(dialled).toHaveLength(2)
  },
  60_000,
)

test.each([
  ['a day', { max_per_day: 40 }],
  ['at once', { max_at_once: 40 }],
])(
  'the limit of calls %s is exact over all servers, also when they are killed',
  async (_, limits) => {
    await using platform = await startRunningCallsPlatform({ answerMs: 20 })
    await using replicas = await startReplicas(3, {
      ...(await shared()),
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_DIAL_POLICY: JSON.stringify(limits),
    })
    const placer = placerOf(replicas)
    const numbers = Array.from({ length: 150 }, (_, nth) => `+4930231${25_200 + nth}`)
    const answers: Answer[] = []
    const placeAll = (some: readonly string[]) =>
      mapConcurrently(some, 30, async (to_number) => {
        const call = { type: 'phone', agent_id: platform.agent.id, from_number: '+493023125000' }
        answers.push(await placer.place({ ...call, to_number }))
      })
    await placeAll(numbers.slice(0, 75))
    expect(platform.dialled).toHaveLength(40)
    // Restarted servers know the calls that were placed before.
    for (const which of [0, 1, 2]) await replicas.restart(which, 'SIGKILL')
    await placeAll(numbers.slice(75))
    expect(platform.dialled).toHaveLength(40)
    expect(answers.filter(({ kind }) => kind === 'placed')).toHaveLength(40)
  },
  120_000,
)
