import { describe, expect, test } from 'vitest'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { startHttpProgram } from '../../harness/program.ts'

const models = 'voice-agents://catalog/models'
const agents = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `voice-agents://agents/a${from + index}`)
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Opens a subscription stream. It stays open until the end of the test, unless it is refused. */
async function listen(url: string, key: string, uris: string[] = [models]) {
  const params = { notifications: { resourceSubscriptions: uris } }
  const ended = new AbortController()
  const response = await fetch(url, {
    ...mcpHttpRequest('subscriptions/listen', params, { key }),
    signal: ended.signal,
  })
  const { status, headers } = response
  const body = status === 200 ? '' : await response.text()
  // Includes the response, because garbage collection of it would close the stream.
  const retryAfter = headers.get('retry-after')
  return { status, body, retryAfter, response, end: () => ended.abort() }
}

const isUp = async (url: string) => (await fetch(new URL('/health', url))).status === 200

/** A platform that refuses keys that begin with `bad`. */
const choosyPlatform = () =>
  startFakePlatform(({ url, headers }, response) => {
    if (String(headers['x-api-key']).startsWith('bad')) {
      // Late, so that requests sent together are checked together.
      setTimeout(() => json(response, 401, envelope('unauthorized')), 200)
      return
    }
    if (url.endsWith('/accounts/current')) return json(response, 200, { id: 'own' })
    if (url.includes('/agents/')) return json(response, 200, { id: 'a', name: 'An agent' })
    json(response, 200, [])
  })

describe('streams', () => {
  test('of a key that the platform refuses are not opened', async () => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_STREAMS: '5',
    })
    const refused = await Promise.all(
      Array.from({ length: 20 }, (_, index) => listen(program.url, `bad-${index % 3}`)),
    )
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401, 503]))
    expect((await listen(program.url, 'bad-1')).status).toBe(401)
    const good = await listen(program.url, 'good')
    expect(good.status).toBe(200)
    good.end()
  })

  test.each([
    [
      'with one key',
      { VOICE_AGENT_MAX_STREAMS_PER_KEY: '2' },
      429,
      /\b2\b.*\(--max-streams-per-key\)/,
    ],
    [
      'from one address',
      { VOICE_AGENT_MAX_STREAMS_PER_ADDRESS: '2' },
      429,
      /\b2\b.*\(--max-streams-per-address\)/,
    ],
    ['in all', { VOICE_AGENT_MAX_STREAMS: '2' }, 503, /\b2\b.*\(--max-streams\)/],
  ])('%s are limited, and one that ends makes room', async (_, env, status, message) => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url, ...env })
    const first = await listen(program.url, 'good')
    const second = await listen(program.url, 'good')
    const third = await listen(program.url, 'good')
    expect([first.status, second.status, third.status]).toEqual([200, 200, status])
    expect(third.body).toMatch(message)
    expect(JSON.parse(third.body)).toMatchObject({ jsonrpc: '2.0', id: null })
    expect(third.retryAfter).toBe('30')
    expect(await isUp(program.url)).toBe(true)
    first.end()
    await expect
      .poll(async () => {
        const next = await listen(program.url, 'good')
        next.end()
        return next.status
      })
      .toBe(200)
    second.end()
  })
})

describe('watched resources', () => {
  test('are limited for a key and in all, and one that many streams watch counts once', async () => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_WATCHED_PER_KEY: '30',
      VOICE_AGENT_MAX_WATCHED: '50',
    })
    const same = await Promise.all(
      Array.from({ length: 10 }, () => listen(program.url, 'good', agents(30))),
    )
    expect(same.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    const more = await listen(program.url, 'good', agents(1, 40))
    expect(more).toMatchObject({ status: 429, retryAfter: '30' })
    expect(more.body).toMatch(/\b30\b.*\(--max-watched-per-key\)/)
    const other = await listen(program.url, 'other', agents(30))
    expect(other).toMatchObject({ status: 503, retryAfter: '30' })
    expect(other.body).toMatch(/\b50\b.*\(--max-watched\)/)
    // A refused stream has no subscriptions.
    expect((await listen(program.url, 'other', agents(20))).status).toBe(200)
    // Each resource was read once at the start; resources of refused streams were not read.
    const read = platform.seen.filter(({ url }) => url.includes('/agents/')).length
    expect(read).toBeLessThanOrEqual(30 + 20)
    for (const { end } of same) end()
  })
})

test('watched resources are limited for a client address, whatever the keys', async () => {
  await using platform = await choosyPlatform()
  await using program = await startHttpProgram({
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_MAX_WATCHED_PER_ADDRESS: '30',
  })
  const first = await listen(program.url, 'good', agents(20))
  const same = await listen(program.url, 'good', agents(20))
  const more = await listen(program.url, 'other', agents(20))
  expect([first.status, same.status, more.status]).toEqual([200, 200, 429])
  expect(more.body).toMatch(/\b30\b.*\(--max-watched-per-address\)/)
  expect(more.retryAfter).toBe('30')
  const other = await listen(program.url, 'other', agents(10))
  expect(other.status).toBe(200)
  for (const { end } of [first, same, other]) end()
  await expect
    .poll(async () => {
      const next = await listen(program.url, 'other', agents(30))
      next.end()
      return next.status
    })
    .toBe(200)
})

describe('requests', () => {
  const call = { name: 'get_subaccount', arguments: { subaccount_id: 's1' } }
  const ask = (url: string, key: string) => fetch(url, mcpHttpRequest('tools/call', call, { key }))
  const slowPlatform = () =>
    startFakePlatform(
      (_, response) => void setTimeout(() => json(response, 200, { id: 's1' }), 1500),
      { account: 'own' },
    )

  test.each([
    [
      'with one key',
      { VOICE_AGENT_MAX_REQUESTS_PER_KEY: '3' },
      429,
      /\b3\b.*\(--max-requests-per-key\)/,
    ],
    [
      'from one address',
      { VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '3' },
      429,
      /\b3\b.*\(--max-requests-per-address\)/,
    ],
    ['in all', { VOICE_AGENT_MAX_REQUESTS: '3' }, 503, /\b3\b.*\(--max-requests\)/],
  ])('at once %s are limited', async (_, env, status, message) => {
    await using platform = await slowPlatform()
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url, ...env })
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(program.url, 'key-one')))
    const refused = answers.filter((answer) => answer.status === status)
    expect(refused.length).toBe(5)
    const [one] = refused
    expect(one?.headers.get('retry-after')).toBe('1')
    expect(await one?.text()).toMatch(message)
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3)
    expect(await isUp(program.url)).toBe(true)
  })

  test.each([
    ['are counted by client', { VOICE_AGENT_TRUSTED_PROXIES: '127.0.0.1' }, [200, 200, 429]],
    ['are those of one client where it is not known', {}, [200, 429, 429]],
  ])('behind a proxy %s', async (_, env, statuses) => {
    await using platform = await slowPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '1',
      ...env,
    })
    const askFrom = (address: string) => {
      const { headers, ...request } = mcpHttpRequest('tools/call', call, { key: 'key-one' })
      const forwarded = { 'x-forwarded-for': `198.51.100.9, ${address}` }
      return fetch(program.url, { ...request, headers: { ...headers, ...forwarded } })
    }
    const answers = await Promise.all(['203.0.113.1', '203.0.113.2', '203.0.113.2'].map(askFrom))
    expect(answers.map(({ status }) => status).sort()).toEqual(statuses)
  })

  test('of one key leave connections to the platform for others, and all are answered', async () => {
    const open = { many: 0, other: 0 }
    const max = { many: 0, all: 0 }
    await using platform = await startFakePlatform(
      ({ headers }, response) => {
        const isSlow = headers['x-api-key'] === 'key-many'
        const key = isSlow ? 'many' : 'other'
        open[key]++
        max.many = Math.max(max.many, open.many)
        max.all = Math.max(max.all, open.many + open.other)
        const answer = () => {
          open[key]--
          json(response, 200, { id: 's1' })
        }
        setTimeout(answer, isSlow ? 500 : 0)
      },
      { account: 'own' },
    )
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_UPSTREAM: '8',
      VOICE_AGENT_MAX_UPSTREAM_PER_KEY: '6',
    })
    let answered = 0
    const many = Array.from({ length: 40 }, async () => {
      const answer = await ask(program.url, 'key-many')
      answered++
      return answer
    })
    await pause(400)
    expect((await ask(program.url, 'key-other')).status).toBe(200)
    // A request behind all of the first key's would be answered after 32 of them.
    expect(answered).toBeLessThan(24)
    const answers = await Promise.all(many)
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(max.many).toBe(6)
    expect(max.all).toBeLessThanOrEqual(8)
  }, 60_000)

  test('from one address leave connections to the platform for others, whatever the keys', async () => {
    let open = 0
    let max = 0
    await using platform = await startFakePlatform(
      (_, response) => {
        max = Math.max(max, ++open)
        const answer = () => {
          open--
          json(response, 200, { id: 's1' })
        }
        setTimeout(answer, 100)
      },
      { account: 'own' },
    )
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_UPSTREAM_PER_ADDRESS: '4',
    })
    const keys = Array.from({ length: 20 }, (_, index) => `key-${index}`)
    const answers = await Promise.all(keys.map((key) => ask(program.url, key)))
    expect(answers.every(({ status }) => status === 200)).toBe(true)
    expect(max).toBe(4)
  })
})

describe('waits for calls', () => {
  const wait = { name: 'wait_for_call', arguments: { call_id: 'c1', timeout_seconds: 20 } }
  const place = { agent_id: 'a1', type: 'web' }
  const ask = (url: string, params: object, signal?: AbortSignal) =>
    fetch(url, {
      ...mcpHttpRequest('tools/call', { ...params }, { key: 'key' }),
      ...(signal && { signal }),
    })
  /** A platform with calls that never end. */
  const ringing = () =>
    startFakePlatform(
      (_, response) => json(response, 200, { id: 'c1', type: 'web', status: 'in_progress' }),
      { account: 'own' },
    )

  test.each([
    ['with one key', { VOICE_AGENT_MAX_WAITS_PER_KEY: '2' }, 429, /\b2\b.*\(--max-waits-per-key\)/],
    [
      'from one address',
      { VOICE_AGENT_MAX_WAITS_PER_ADDRESS: '2' },
      429,
      /\b2\b.*\(--max-waits-per-address\)/,
    ],
    ['in all', { VOICE_AGENT_MAX_WAITS: '2' }, 503, /\b2\b.*\(--max-waits\)/],
  ])(
    '%s are limited, other requests are served, and one that ends makes room',
    async (_, env, status, message) => {
      await using platform = await ringing()
      await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url, ...env })
      const ended = new AbortController()
      const waits = [1, 2].map(() => ask(program.url, wait, ended.signal).catch(() => undefined))
      await expect.poll(() => platform.seen.some(({ url }) => url.includes('/c1'))).toBe(true)
      await expect
        .poll(
          async () =>
            (await ask(program.url, wait, AbortSignal.timeout(500)).catch(() => undefined))?.status,
        )
        .toBe(status)
      const refused = await ask(program.url, wait)
      expect(refused.headers.get('retry-after')).toBe('5')
      expect(await refused.text()).toMatch(message)
      const before = platform.seen.length
      for (const name of ['place_call', 'place_calls']) {
        for (const follow of [true, 'True']) {
          const placing = await ask(program.url, { name, arguments: { ...place, follow } })
          expect(placing.status).toBe(status)
        }
      }
      // No call was placed. Placing without following the call is not limited.
      expect(platform.seen.slice(before).filter(({ method }) => method === 'POST')).toEqual([])
      expect(
        (await ask(program.url, { name: 'get_call', arguments: { call_id: 'c1' } })).status,
      ).toBe(200)
      expect((await ask(program.url, { name: 'place_call', arguments: place })).status).toBe(200)
      ended.abort()
      await Promise.all(waits)
      await expect
        .poll(async () => {
          const short = { name: 'wait_for_call', arguments: { call_id: 'c1', timeout_seconds: 1 } }
          return (await ask(program.url, short)).status
        })
        .toBe(200)
    },
  )

  test('count each in a batch', async () => {
    await using platform = await ringing()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_WAITS_PER_KEY: '2',
    })
    const send = async (count: number) => {
      const params = { name: 'wait_for_call', arguments: { call_id: 'c1', timeout_seconds: 1 } }
      const batch = Array.from({ length: count }, (_, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params,
      }))
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': 'key',
      }
      const response = await fetch(program.url, {
        method: 'POST',
        headers,
        body: JSON.stringify(batch),
      })
      await response.text()
      return response.status
    }
    expect([await send(3), await send(2), await send(2)]).toEqual([429, 200, 200])
  })
})

describe('requests a minute', () => {
  const ask = (url: string, key: string) => fetch(url, mcpHttpRequest('tools/list', {}, { key }))

  test.each([
    ['with one key', { VOICE_AGENT_MAX_RATE_PER_KEY: '3' }, 429, /\b3\b.*\(--max-rate-per-key\)/],
    [
      'from one address',
      { VOICE_AGENT_MAX_RATE_PER_ADDRESS: '3' },
      429,
      /\b3\b.*\(--max-rate-per-address\)/,
    ],
    ['in all', { VOICE_AGENT_MAX_RATE: '3' }, 503, /\b3\b.*\(--max-rate\)/],
  ])('%s are limited', async (_, env, status, message) => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url, ...env })
    for (let at = 0; at < 3; at++) expect((await ask(program.url, 'good')).status).toBe(200)
    const refused = await ask(program.url, 'good')
    expect(refused.status).toBe(status)
    expect(await refused.text()).toMatch(message)
    const retryAfter = Number(refused.headers.get('retry-after'))
    expect(retryAfter).toBeGreaterThan(10)
    expect(retryAfter).toBeLessThanOrEqual(20)
    // Only a limit per key leaves other keys unaffected.
    const isOfKey = 'VOICE_AGENT_MAX_RATE_PER_KEY' in env
    expect((await ask(program.url, 'other')).status).toBe(isOfKey ? 200 : status)
    expect(await isUp(program.url)).toBe(true)
  })

  test('are allowed again after the time that the answer names', async () => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_RATE_PER_KEY: '60',
    })
    const answers = await Promise.all(Array.from({ length: 70 }, () => ask(program.url, 'good')))
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.at(-1)?.headers.get('retry-after')).toBe('1')
    await pause(1050)
    expect((await ask(program.url, 'good')).status).toBe(200)
  })

  test('count the messages of a batch, streams, and bodies that are no message', async () => {
    await using platform = await choosyPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_MAX_RATE_PER_KEY: '4',
    })
    const send = async (key: string, body: string) => {
      const headers = {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'x-api-key': key,
      }
      return (await fetch(program.url, { method: 'POST', headers, body })).status
    }
    const ping = { jsonrpc: '2.0', method: 'ping' }
    const batch = JSON.stringify([1, 2, 3, 4].map((id) => ({ ...ping, id })))
    expect([await send('batch', batch), await send('batch', batch)]).toEqual([200, 429])
    const wrong = await Promise.all(Array.from({ length: 5 }, () => send('wrong', '{')))
    expect(wrong.toSorted()).toEqual([400, 400, 400, 400, 429])
    const streams = await Promise.all(
      Array.from({ length: 5 }, () => listen(program.url, 'streams')),
    )
    expect(streams.map(({ status }) => status).toSorted()).toEqual([200, 200, 200, 200, 429])
    for (const { end } of streams) end()
  })
})
