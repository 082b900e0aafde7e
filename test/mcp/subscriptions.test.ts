import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { describe, expect, test } from 'vitest'
import { envelope, type FakePlatform, json, startFakePlatform } from '../harness/fake-platform.ts'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { bin, cleanEnv, quietly, startHttpProgram } from '../harness/program.ts'

const models = 'voice-agents://catalog/models'
const transcribers = 'voice-agents://catalog/transcribers'

const catalog = (model: string) => [{ provider: { code: 'p' }, models: [{ id: model }] }]

/** A platform with a catalog of models that can change, for one key or for all. */
async function changingPlatform() {
  const of = new Map<string, string>()
  const platform = await startFakePlatform(
    ({ url, headers }, res) => {
      const model = of.get(String(headers['x-api-key'])) ?? 'old'
      json(res, 200, url.includes('models') ? catalog(model) : catalog('always'))
    },
    { account: 'own' },
  )
  return Object.assign(platform, { change: (key: string, to: string) => void of.set(key, to) })
}

const env = (platform: FakePlatform, key?: string) => ({
  ...quietly,
  VOICE_AGENT_BASE_URL: platform.url,
  VOICE_AGENT_CATALOG_TTL: '0.15',
  ...(key && { VOICE_AGENT_API_KEY: key }),
})

const info = { name: 'test', version: '1' }
const modern = { versionNegotiation: { mode: { pin: '2026-07-28' } } } as const
const legacy = { versionNegotiation: { mode: 'legacy' } } as const

/** A client that records its notifications. */
function listener(options: typeof modern | typeof legacy) {
  const client = new Client(info, options)
  const updates: string[] = []
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    updates.push(params.uri)
  })
  return { client, updates, [Symbol.asyncDispose]: () => client.close() }
}

const overStdio = (platform: FakePlatform, key: string) =>
  new StdioClientTransport({
    command: process.execPath,
    args: [bin],
    env: cleanEnv(env(platform, key)),
    stderr: 'ignore',
  })

const overHttp = (url: string, key: string) =>
  new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { 'X-API-Key': key } },
  })

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function expectUpdates(updates: readonly string[], uris: string[]): Promise<void> {
  await expect.poll(() => [...updates], { interval: 30 }).toEqual(uris)
}

/**
 * Waits for the first reads, whose replies later reads are compared with. The reply arrives after
 * the request was counted.
 */
async function firstRead({ seen }: FakePlatform, count: number): Promise<void> {
  await expect.poll(() => seen.length).toBeGreaterThanOrEqual(count)
  await pause(400)
}

describe('a subscriber is notified when, and only when, the content changed', () => {
  test('in the 2026 revision over stdio', async () => {
    await using platform = await changingPlatform()
    await using one = listener(modern)
    await one.client.connect(overStdio(platform, 'key-one'))
    await one.client.listen({ resourceSubscriptions: [models, transcribers] })
    await firstRead(platform, 2)
    expect(one.updates).toEqual([])
    platform.change('key-one', 'new')
    await expectUpdates(one.updates, [models])
    await pause(500)
    expect(one.updates).toEqual([models])
  })

  test('in the 2025 revisions over stdio, until it unsubscribes', async () => {
    await using platform = await changingPlatform()
    await using one = listener(legacy)
    await one.client.connect(overStdio(platform, 'key-one'))
    await one.client.subscribeResource({ uri: models })
    await firstRead(platform, 1)
    platform.change('key-one', 'new')
    await expectUpdates(one.updates, [models])
    await one.client.unsubscribeResource({ uri: models })
    platform.change('key-one', 'newer')
    await pause(500)
    expect(one.updates).toEqual([models])
  })

  test('in the 2026 revision over HTTP, of its own key alone', async () => {
    await using platform = await changingPlatform()
    await using program = await startHttpProgram(env(platform))
    await using one = listener(modern)
    await using other = listener(modern)
    await one.client.connect(overHttp(program.url, 'key-one'))
    await other.client.connect(overHttp(program.url, 'key-other'))
    const stream = await one.client.listen({ resourceSubscriptions: [models] })
    await other.client.listen({ resourceSubscriptions: [models] })
    const keys = () => new Set(platform.seen.map(({ headers }) => headers['x-api-key']))
    await expect.poll(() => keys().size).toBe(2)
    await pause(400)
    platform.change('key-one', 'new')
    await expectUpdates(one.updates, [models])
    await pause(300)
    expect(other.updates).toEqual([])
    await stream.close()
    platform.change('key-one', 'newer')
    platform.change('key-other', 'new')
    await expectUpdates(other.updates, [models])
    expect(one.updates).toEqual([models])
  })
})

describe('the acknowledged resources in the 2026 revision are the watched ones', () => {
  test.each(['stdio', 'HTTP'])('over %s', async (transport) => {
    await using platform = await changingPlatform()
    await using program = await startHttpProgram(env(platform))
    await using one = listener(modern)
    const key = 'key-one'
    await one.client.connect(
      transport === 'stdio' ? overStdio(platform, key) : overHttp(program.url, key),
    )
    const nothing = ['voice-agents://nothing', 'https://example.com', '']
    const mixed = await one.client.listen({ resourceSubscriptions: [models, ...nothing, models] })
    expect(mixed.honoredFilter.resourceSubscriptions).toEqual([models])
    const none = await one.client.listen({ resourceSubscriptions: nothing })
    expect(none.honoredFilter.resourceSubscriptions ?? []).toEqual([])
    const voices = Array.from({ length: 120 }, (_, at) => `voice-agents://catalog/voices/${at}`)
    const many = await one.client.listen({ resourceSubscriptions: voices })
    expect(many.honoredFilter.resourceSubscriptions).toEqual(voices.slice(0, 100))
  })
})

test('nothing is read when no client listens', async () => {
  await using platform = await changingPlatform()
  await using program = await startHttpProgram(env(platform))
  await using one = listener(modern)
  await one.client.connect(overHttp(program.url, 'key-one'))
  const stream = await one.client.listen({ resourceSubscriptions: [models] })
  await expect.poll(() => platform.seen.length).toBeGreaterThan(1)
  await stream.close()
  await pause(600)
  const read = platform.seen.length
  await pause(600)
  expect(platform.seen.length).toBe(read)
})

test('nothing is watched for a client that has gone while its key was checked', async () => {
  let answerCheck = () => {}
  await using platform = await startFakePlatform(({ url }, res) => {
    if (url.includes('models')) return json(res, 200, catalog('old'))
    answerCheck = () => json(res, 200, { id: 'own' })
  })
  await using program = await startHttpProgram(env(platform))
  const gone = new AbortController()
  const listening = fetch(program.url, {
    ...mcpHttpRequest(
      'subscriptions/listen',
      { notifications: { resourceSubscriptions: [models] } },
      { key: 'key-one' },
    ),
    signal: gone.signal,
  })
  await expect.poll(() => platform.seen.length).toBe(1)
  gone.abort()
  await expect(listening).rejects.toThrow()
  await pause(200)
  answerCheck()
  await pause(600)
  expect(platform.seen.map(({ url }) => url)).toEqual(['/v1/accounts/current'])
})

test('a cancelled request to subscribe watches nothing', async () => {
  let isAnswered = false
  await using platform = await startFakePlatform((_request, res) => {
    setTimeout(() => {
      isAnswered = true
      json(res, 200, catalog('old'))
    }, 400)
  })
  await using one = listener(legacy)
  await one.client.connect(overStdio(platform, 'key-one'))
  const cancelled = new AbortController()
  const subscribing = one.client.subscribeResource({ uri: models }, { signal: cancelled.signal })
  await expect.poll(() => platform.seen.length).toBe(1)
  cancelled.abort()
  await expect(subscribing).rejects.toThrow()
  await expect.poll(() => isAnswered).toBe(true)
  const read = platform.seen.length
  await pause(800)
  expect(platform.seen.length).toBe(read)
})

test('a catalog says how long and for whom it may be cached; an agent is never cached', async () => {
  await using one = listener(modern)
  await one.client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [bin],
      env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly }),
      stderr: 'ignore',
    }),
  )
  expect(await one.client.readResource({ uri: models })).toMatchObject({
    ttlMs: 300_000,
    cacheScope: 'private',
  })
  const { resources } = await one.client.listResources()
  const agent = resources.find(({ uri }) => uri.includes('agents/'))?.uri ?? ''
  expect(await one.client.readResource({ uri: agent })).toMatchObject({ ttlMs: 0 })
})

test('no subscriptions are declared in the 2025 revisions over HTTP, where no client can be notified', async () => {
  await using program = await startHttpProgram()
  await using one = listener(legacy)
  await one.client.connect(overHttp(program.url, 'sandbox-key'))
  expect(one.client.getServerCapabilities()?.resources).toEqual({})
  await expect(one.client.subscribeResource({ uri: models })).rejects.toThrow()
})

test('a missing resource cannot be subscribed to; one that cannot be read now can', async () => {
  await using platform = await startFakePlatform(
    ({ url }, res) =>
      url.includes('/agents/gone')
        ? json(res, 404, envelope('not_found'))
        : json(res, 500, envelope('internal_error')),
    { account: 'own' },
  )
  await using one = listener(legacy)
  await one.client.connect(overStdio(platform, 'a-key-0123456789'))
  for (const uri of ['voice-agents://nothing', 'voice-agents://agents/gone']) {
    const refused = one.client.subscribeResource({ uri })
    await expect(refused, uri).rejects.toMatchObject({ data: { uri } })
  }
  await one.client.subscribeResource({ uri: 'voice-agents://agents/there' })
})
