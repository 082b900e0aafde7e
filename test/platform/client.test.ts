import { createSecureServer } from 'node:http2'
import { connect, createServer, type Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { describe, expect, test } from 'vitest'
import { routes } from '../../src/contract/routes.ts'
import { createClient, defaultRetryPolicy, waitBeforeRetry } from '../../src/platform/client.ts'
import type { ConcurrencyBounds } from '../../src/platform/concurrency-limit.ts'
import { ApiError, type Failure } from '../../src/platform/failure.ts'
import { createNetworkSender } from '../../src/platform/network-sender.ts'
import { certificate, certificateKey } from '../harness/certificate.ts'
import {
  type Behaviour,
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../harness/fake-platform.ts'

const account = { id: 'a1', name: 'Fake' }
const me = { params: { account_id: 'me' }, query: {} }
const newSubaccount = { ...me, body: { name: 'x' } }

interface Limits {
  readonly headersTimeoutMs?: number
  readonly totalTimeoutMs?: number
  readonly concurrency?: ConcurrencyBounds
  readonly maxRetryAfterSeconds?: number
}

const defaultConcurrency = { inAll: 128, perKey: 64, perNetwork: 0 }

function clientFor(
  baseUrl: string,
  {
    headersTimeoutMs = 2000,
    totalTimeoutMs = 4000,
    concurrency = defaultConcurrency,
    maxRetryAfterSeconds = defaultRetryPolicy.maxRetryAfterSeconds,
  }: Limits = {},
) {
  const sender = createNetworkSender({
    baseUrl: new URL(baseUrl),
    headersTimeoutMs,
    totalTimeoutMs,
    concurrency,
    proxy: undefined,
  })
  const client = createClient({
    send: sender.send,
    apiKey: 'secret-key',
    userAgent: 'voice-agent-mcp/test',
    totalTimeoutMs,
    retry: { ...defaultRetryPolicy, firstWaitMs: 5, maxRetryAfterSeconds },
  })
  return { ...client, [Symbol.asyncDispose]: () => sender.close() }
}

/** Starts a server on a free port; returns the port. */
async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return port
}

/** Runs a call against a platform with this behaviour, and returns its result. */
async function against<T>(
  behaviour: Behaviour,
  call: (client: ReturnType<typeof clientFor>, platform: FakePlatform) => Promise<T>,
  timeouts?: Parameters<typeof clientFor>[1],
) {
  await using platform = await startFakePlatform(behaviour)
  await using client = clientFor(platform.url, timeouts)
  const outcome = await call(client, platform).then(
    (value) => ({ value, failure: undefined, attempts: undefined }),
    (error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      return { value: undefined, failure: error.failure, attempts: error.attempts }
    },
  )
  return { ...outcome, seen: platform.seen }
}

const getAccount = (client: ReturnType<typeof clientFor>) =>
  client.call(routes.accounts.current, { params: {}, query: {} })
const createSubaccount = (client: ReturnType<typeof clientFor>) =>
  client.call(routes.accounts.createSubaccount, newSubaccount)

describe('requests', () => {
  test('carry key, user agent and JSON', async () => {
    const { seen } = await against((_, res) => json(res, 201, account), createSubaccount)
    expect(seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/accounts/me/subaccounts',
      body: '{"name":"x"}',
      headers: {
        'x-api-key': 'secret-key',
        'user-agent': 'voice-agent-mcp/test',
        'content-type': 'application/json',
        // The client does not support compressed replies.
        'accept-encoding': 'identity',
      },
    })
  })

  test('keep null, false, 0 and the empty string', async () => {
    const body = { note: null, name: '', volume: { web: 0, allow_adjustment: false } }
    const { seen } = await against(
      (_, res) => json(res, 200, { id: 'x' }),
      (client) =>
        client.call(routes.agents.update, {
          params: { account_id: 'me', agent_id: 'x' },
          query: {},
          body,
        }),
    )
    expect(JSON.parse(seen[0]?.body ?? '')).toEqual(body)
  })

  test('repeat a query parameter for each item of an array', async () => {
    const { seen } = await against(
      (_, res) => json(res, 200, { count: 0, items: [] }),
      (client) =>
        client.call(routes.agents.list, {
          ...me,
          query: { tags: ['a b', 'c,d'], include_archived: false, offset: 0, name: undefined },
        }),
    )
    expect(seen[0]?.url).toBe(
      '/v1/accounts/me/agents?tags=a+b&tags=c%2Cd&include_archived=false&offset=0',
    )
  })

  test('encode path parameters', async () => {
    const { seen } = await against(
      (_, res) => json(res, 200, { id: 'x' }),
      (client) =>
        client.call(routes.agents.get, {
          params: { account_id: 'me', agent_id: '../b?c#d e/ü' },
          query: {},
        }),
    )
    expect(seen[0]?.url).toBe('/v1/accounts/me/agents/..%2Fb%3Fc%23d%20e%2F%C3%BC')
  })

  test.each(['', '.', '..'])(
    'refuse the path parameter "%s" and send nothing',
    async (agent_id) => {
      const { failure, seen } = await against(
        (_, res) => json(res, 200, {}),
        (client) =>
          client.call(routes.agents.get, { params: { account_id: 'me', agent_id }, query: {} }),
      )
      expect(failure).toEqual({ kind: 'bad_parameter', name: 'agent_id', value: agent_id })
      expect(seen).toHaveLength(0)
    },
  )

  test('go below the path of the base URL', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 200, account))
    await using client = clientFor(`${platform.url}/gateway`)
    await getAccount(client)
    expect(platform.seen[0]?.url).toBe('/gateway/v1/accounts/current')
  })
})

describe('replies', () => {
  test('keep fields that are not in the contract', async () => {
    const { value } = await against(
      (_, res) => json(res, 200, { ...account, brand_new: [1] }),
      getAccount,
    )
    expect(value).toEqual({ ...account, brand_new: [1] })
  })

  test.each([
    [204, ''],
    [200, '{"id":"x"}'],
    [202, 'not even JSON'],
  ])('accept %i as acknowledgement, whatever the body', async (status, body) => {
    const { value, failure } = await against(
      (_, res) => res.writeHead(status).end(status === 204 ? undefined : body),
      (client) =>
        client.call(routes.agents.archive, {
          params: { account_id: 'me', agent_id: 'x' },
          query: {},
        }),
    )
    expect({ value, failure }).toEqual({ value: undefined, failure: undefined })
  })

  test('with an error envelope become failures with the envelope and the request id', async () => {
    const errors = [{ field: 'body.name', message: 'too long', type: 'value_error' }]
    const { failure } = await against(
      (_, res) =>
        json(res, 422, envelope('validation_error', 'Invalid.', { detail: 'More.', errors }), {
          'x-request-id': 'r-1',
        }),
      createSubaccount,
    )
    expect(failure).toEqual({
      kind: 'rejected',
      status: 422,
      code: 'validation_error',
      message: 'Invalid.',
      detail: 'More.',
      errors,
      requestId: 'r-1',
      retryAfter: null,
    })
  })

  test.each([
    [401, { detail: 'Not authenticated' }, { code: 'unknown', message: 'Not authenticated' }],
    [401, { code: 401, message: 'No' }, { code: '401', message: 'No' }],
    [
      422,
      { detail: [{ loc: ['body', 'name'], msg: 'too long', type: 'value_error' }] },
      { errors: [{ field: 'body.name', message: 'too long', type: 'value_error' }] },
    ],
    [
      422,
      { code: 'x', message: 'm', errors: [{ field: ['body', 'name'], message: 'no' }] },
      { code: 'x', errors: [{ field: 'body.name', message: 'no', type: 'unknown' }] },
    ],
  ])('that refuse with %i in another shape (%j) are understood', async (status, body, expected) => {
    const { failure } = await against((_, res) => json(res, status, body), createSubaccount)
    expect(failure).toMatchObject({ kind: 'rejected', status, ...expected })
  })

  test('to a DELETE are failures if they contain a page or an error', async () => {
    const remove = (client: ReturnType<typeof clientFor>) =>
      client.call(routes.agents.archive, { params: { account_id: 'me', agent_id: 'x' }, query: {} })
    const page = await against((_, res) => res.writeHead(200).end('<html>login'), remove)
    expect(page.failure).toMatchObject({ kind: 'unreadable', reason: 'html' })
    const error = await against((_, res) => json(res, 200, envelope('conflict')), remove)
    expect(error.failure).toMatchObject({ kind: 'unreadable' })
    const half = await against((_, res) => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('{')
      setTimeout(() => res.destroy(), 20)
    }, remove)
    expect(half).toMatchObject({ failure: undefined, value: undefined })
  })

  test('may begin with a byte order mark', async () => {
    const { value } = await against(
      (_, res) => res.writeHead(200).end(`\uFEFF${JSON.stringify(account)}`),
      getAccount,
    )
    expect(value).toEqual(account)
  })

  test('that are nested too deeply are reported as such', async () => {
    const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
    const { failure } = await against(
      (_, res) => res.writeHead(200).end(`{"id":"a","deep":${deep}}`),
      getAccount,
    )
    expect(failure).toMatchObject({ kind: 'unreadable', reason: 'unexpected_shape' })
  })

  test.each(['garbage\r\n\r\n', 'HTTP/1.1 000 None\r\ncontent-length: 2\r\n\r\n{}'])(
    'that are no HTTP (%j) are told as that, and may have been done',
    async (garbage) => {
      const server = createServer((socket) => socket.once('data', () => socket.end(garbage)))
      const port = await listening(server)
      await using client = clientFor(`http://127.0.0.1:${port}`)
      const error = await createSubaccount(client).catch((caught: unknown) => caught)
      expect(error).toMatchObject({
        failure: { kind: 'network', code: 'NO_HTTP', maybeSent: true },
      })
      await new Promise((resolve) => server.close(resolve))
    },
  )

  const unreadable: [string, Behaviour, Partial<Failure>][] = [
    [
      'HTML',
      (_, res) => res.writeHead(200).end('<!doctype html><p>Hi'),
      { reason: 'html', status: 200 },
    ],
    ['nothing', (_, res) => res.writeHead(200).end(), { reason: 'empty', status: 200 }],
    ['half of it', (_, res) => res.writeHead(200).end('{"id":"a'), { reason: 'cut_off' }],
    ['text', (_, res) => res.writeHead(200).end('OK'), { reason: 'not_json' }],
    [
      'another shape',
      (_, res) => json(res, 200, { name: 'no id' }),
      { reason: 'unexpected_shape' },
    ],
    [
      'an error that is no envelope',
      (_, res) => json(res, 400, { nothing: 'said' }),
      { reason: 'unexpected_shape', status: 400 },
    ],
    [
      'an HTML error',
      (_, res) => res.writeHead(500).end('<html>'),
      { reason: 'html', status: 500 },
    ],
  ]
  test.each(unreadable)('that are %s are reported as such', async (_, behaviour, expected) => {
    const { failure, seen } = await against(behaviour, createSubaccount)
    expect(failure).toMatchObject({ kind: 'unreadable', ...expected })
    expect(seen).toHaveLength(1)
  })

  test('that break off are reported as such, and a GET is retried', async () => {
    const breakOff: Behaviour = (_, res) => {
      res.writeHead(200, { 'content-length': '100' })
      res.write('{"id":"a1"')
      setTimeout(() => res.destroy(), 20)
    }
    const { failure, attempts } = await against(breakOff, getAccount)
    expect(failure).toMatchObject({ kind: 'unreadable', reason: 'cut_off', excerpt: '{"id":"a1"' })
    expect(attempts).toBe(3)
    const post = await against(breakOff, createSubaccount)
    expect(post.attempts).toBe(1)
  })

  test('over 10 MiB are not read to the end', async () => {
    let written = 0
    const { failure } = await against((_, res) => {
      res.writeHead(200)
      const more = () => {
        while (!res.destroyed && written < 200 * 1024 * 1024) {
          written += 65_536
          if (!res.write('x'.repeat(65_536))) return void res.once('drain', more)
        }
        res.end()
      }
      more()
    }, getAccount)
    expect(failure).toMatchObject({ kind: 'unreadable', reason: 'too_large' })
    expect(written).toBeLessThan(100 * 1024 * 1024)
  })

  test('a few megabytes of a million items are not parsed', async () => {
    const body = { items: Array.from({ length: 1_000_000 }, () => ({})) }
    const { failure } = await against((_, res) => json(res, 200, body), getAccount)
    expect(failure).toMatchObject({ reason: 'too_large', detail: 'more than 300000 values' })
    const refused = await against((_, res) => json(res, 422, body), getAccount)
    expect(refused.failure).toMatchObject({ kind: 'unreadable', reason: 'too_large' })
  })

  test('a hundred conversations with long transcripts are far below what is read', async () => {
    const messages = Array.from({ length: 100 }, () => ({
      role: 'agent',
      message: 'a, [b]',
      timestamp: '',
    }))
    const items = Array.from({ length: 100 }, () => ({ messages }))
    const { value } = await against((_, res) => json(res, 200, { ...account, items }), getAccount)
    expect(value).toEqual({ ...account, items })
  })
})

describe('retries', () => {
  test.each([429, 502, 503, 504])('a GET is tried three times on status %i', async (status) => {
    const { failure, attempts, seen } = await against(
      (_, res) => json(res, status, envelope('busy')),
      getAccount,
    )
    expect(failure).toMatchObject({ kind: 'rejected', status })
    expect([attempts, seen.length]).toEqual([3, 3])
  })

  test('a GET succeeds if a later attempt succeeds', async () => {
    const { value, seen } = await against(
      (_, res, before) => (before < 2 ? res.writeHead(503).end() : json(res, 200, account)),
      getAccount,
    )
    expect(value).toEqual(account)
    expect(seen).toHaveLength(3)
  })

  test.each([400, 401, 403, 404, 409, 422, 500])(
    'a GET is not tried again on %i',
    async (status) => {
      const { seen } = await against((_, res) => json(res, status, envelope('no')), getAccount)
      expect(seen).toHaveLength(1)
    },
  )

  test('a GET is retried when the connection is dropped', async () => {
    const { value, seen } = await against(
      (_, res, before) => (before === 0 ? res.destroy() : json(res, 200, account)),
      getAccount,
    )
    expect(value).toEqual(account)
    expect(seen).toHaveLength(2)
  })

  test.each([429, 502, 503, 504])('a POST is never repeated on status %i', async (status) => {
    const { seen } = await against((_, res) => res.writeHead(status).end(), createSubaccount)
    expect(seen).toHaveLength(1)
  })

  test('a POST is never repeated when the connection is dropped after sending', async () => {
    const { failure, seen } = await against((_, res) => res.destroy(), createSubaccount)
    expect(failure).toMatchObject({ kind: 'network', maybeSent: true })
    expect(seen).toHaveLength(1)
  })

  test('a PATCH or DELETE is never repeated', async () => {
    const params = { account_id: 'me', agent_id: 'x' }
    const { seen } = await against(
      (_, res) => res.writeHead(503).end(),
      async (client) => {
        await client.call(routes.agents.update, { params, query: {}, body: {} }).catch(() => null)
        await client.call(routes.agents.archive, { params, query: {} }).catch(() => null)
      },
    )
    expect(seen.map(({ method }) => method)).toEqual(['PATCH', 'DELETE'])
  })

  test('Retry-After is waited for, as seconds and as a date', async () => {
    for (const retryAfter of ['1', () => new Date(Date.now() + 1900).toUTCString()]) {
      const started = Date.now()
      const value = typeof retryAfter === 'string' ? retryAfter : retryAfter()
      const { seen } = await against(
        (_, res, before) =>
          before === 0
            ? json(res, 429, envelope('rate_limit_exceeded'), { 'retry-after': value })
            : json(res, 200, account),
        getAccount,
      )
      expect(seen).toHaveLength(2)
      expect(Date.now() - started).toBeGreaterThanOrEqual(850)
    }
  })

  test('a Retry-After of more than 30 s is reported instead of waited for', async () => {
    const { failure, seen } = await against(
      (_, res) => json(res, 429, envelope('rate_limit_exceeded'), { 'retry-after': '31' }),
      getAccount,
    )
    expect(failure).toMatchObject({ status: 429, retryAfter: 31 })
    expect(seen).toHaveLength(1)
  })

  test('the limit of Retry-After applies to the sum of all waits of a read', async () => {
    const { failure, seen } = await against(
      (_, res) => json(res, 429, envelope('rate_limit_exceeded'), { 'retry-after': '1' }),
      getAccount,
      { maxRetryAfterSeconds: 1 },
    )
    expect(failure).toMatchObject({ status: 429, retryAfter: 1 })
    expect(seen).toHaveLength(2)
  })

  test('a POST is retried if there was no connection, because nothing was sent', async () => {
    const probe = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => probe.once('listening', resolve))
    const { port } = probe.address() as { port: number }
    await new Promise((resolve) => probe.close(resolve))
    await using client = clientFor(`http://127.0.0.1:${port}`)
    const error = await createSubaccount(client).catch((caught: unknown) => caught)
    expect(error).toMatchObject({
      attempts: 3,
      failure: { kind: 'network', code: 'ECONNREFUSED', maybeSent: false },
    })
  })
})

test.each(['-1', '1.5', 'soon 1', ''])('Retry-After "%s" is ignored', async (value) => {
  const { failure } = await against(
    (_, res) => json(res, 500, envelope('x'), { 'retry-after': value }),
    getAccount,
  )
  expect(failure).toMatchObject({ retryAfter: null })
})

test('the waits between attempts grow, and vary at random', () => {
  const busy = { kind: 'network', code: 'ECONNRESET', maybeSent: true } as const
  const wait = (attempt: number, random: number) =>
    waitBeforeRetry('GET', busy, attempt, defaultRetryPolicy, () => random)
  expect([wait(1, 1), wait(2, 1), wait(3, 1)]).toEqual([250, 500, null])
  expect(wait(1, 0.5)).toBe(125)
})

test('a base URL with two slashes leads to the same host', async () => {
  await using elsewhere = await startFakePlatform((_, res) => json(res, 200, account))
  await using platform = await startFakePlatform((_, res) => json(res, 200, account))
  await using client = clientFor(`${platform.url}//${elsewhere.url.replace('http://', '')}/api`)
  await getAccount(client)
  expect([platform.seen.length, elsewhere.seen.length]).toEqual([1, 0])
})

describe('time', () => {
  test('all attempts together stay within the time limit of one request', async () => {
    const { attempts, failure } = await against(
      (_, res, before) => void (before === 0 && res.writeHead(503).end()),
      (client) => getAccount(client),
      { totalTimeoutMs: 1500 },
    )
    expect(attempts).toBe(2)
    // The error reports the total wait, not the time left for the last attempt.
    expect(failure).toMatchObject({ kind: 'timeout' })
    expect(Object(failure).afterMs).toBeGreaterThan(1480)
    expect(Object(failure).afterMs).toBeLessThan(6000)
  })

  test('a platform that does not begin to answer is a timeout, and is not asked again', async () => {
    const { failure, seen } = await against(() => {}, getAccount, { headersTimeoutMs: 80 })
    expect(failure).toEqual({
      kind: 'timeout',
      waitingFor: 'headers',
      afterMs: expect.any(Number),
      maybeSent: true,
    })
    expect(Object(failure).afterMs).toBeGreaterThan(75)
    expect(Object(failure).afterMs).toBeLessThan(4000)
    expect(seen).toHaveLength(1)
  })

  test('a platform that does not finish its answer is a timeout', async () => {
    const { failure } = await against((_, res) => void res.writeHead(200).write('{'), getAccount, {
      headersTimeoutMs: 1000,
      totalTimeoutMs: 1200,
    })
    expect(failure).toMatchObject({ kind: 'timeout', waitingFor: 'body' })
  })

  test('a connection that is dead without being closed ends with its request', async () => {
    setDefaultCACertificates([...getCACertificates('default'), certificate])
    const platform = createSecureServer(
      { key: certificateKey, cert: certificate, allowHTTP1: true },
      (_, response) => response.end(JSON.stringify(account)),
    )
    const port = await listening(platform)
    let isMute = false
    /** A proxy that can drop all data silently, like a NAT gateway that has lost its mapping. */
    const between = createServer((near) => {
      const far = connect(port, '127.0.0.1')
      near.on('data', (chunk) => isMute || far.write(chunk)).on('error', () => far.destroy())
      far.on('data', (chunk) => isMute || near.write(chunk)).on('error', () => near.destroy())
      near.on('close', () => far.destroy())
      isMute = false
    })
    await using client = clientFor(`https://localhost:${await listening(between)}`, {
      headersTimeoutMs: 1500,
    })
    expect(await getAccount(client)).toEqual(account)
    // Waits until the connection is idle, so that the next request reuses it.
    await new Promise(setImmediate)
    isMute = true
    await expect(getAccount(client)).rejects.toThrow('timeout')
    // Only new connections pass data again.
    expect(await getAccount(client)).toEqual(account)
    platform.close()
    between.close()
  })

  test('a request that ends while it waits for a connection was not sent, and never is', async () => {
    setDefaultCACertificates([...getCACertificates('default'), certificate])
    let hasEnded = false
    let requests = 0
    const platform = createSecureServer(
      { key: certificateKey, cert: certificate, allowHTTP1: true },
      (_, response) => {
        requests++
        response.end('{}')
      },
    )
    const port = await listening(platform)
    /** Delays a connection until its request has ended. */
    const between = createServer((near) => {
      const far = connect(port, '127.0.0.1').on('error', () => near.destroy())
      near
        .on('error', () => far.destroy())
        .on('close', () => {
          hasEnded = true
        })
      setTimeout(() => near.pipe(far).pipe(near), 300)
    })
    await using client = clientFor(`https://localhost:${await listening(between)}`)
    const gone = AbortSignal.timeout(50)
    const sent = client.call(routes.accounts.createSubaccount, newSubaccount, gone)
    await expect(sent).rejects.toMatchObject({ failure: { kind: 'cancelled', maybeSent: false } })
    await expect.poll(() => hasEnded).toBe(true)
    await sleep(100)
    expect(requests).toBe(0)
    platform.close()
    between.close()
  })

  test('beforeSending runs when a waiting request gets its slot, and a request that it cancels is not sent', async () => {
    const answers: (() => void)[] = []
    await using platform = await startFakePlatform((_, res) => {
      answers.push(() => json(res, 201, account))
    })
    await using client = clientFor(platform.url, {
      concurrency: { inAll: 1, perKey: 1, perNetwork: 0 },
    })
    const create = (beforeSending: () => Promise<void>, signal?: AbortSignal) =>
      client.call(routes.accounts.createSubaccount, { ...newSubaccount, beforeSending }, signal)
    const asked: string[] = []
    const ahead = create(async () => void asked.push('ahead'))
    const stopped = new AbortController()
    const waiting = create(async () => {
      asked.push('waiting')
      stopped.abort()
    }, stopped.signal)
    await expect.poll(() => answers.length).toBe(1)
    expect(asked).toEqual(['ahead'])
    answers[0]?.()
    expect(await ahead).toEqual(account)
    await expect(waiting).rejects.toMatchObject({
      failure: { kind: 'cancelled', maybeSent: false },
    })
    expect(asked).toEqual(['ahead', 'waiting'])
    expect(platform.seen).toHaveLength(1)
  })

  test('a cancelled request ends at once', async () => {
    const controller = new AbortController()
    const { failure } = await against(
      () => controller.abort(),
      (client) =>
        client.call(routes.accounts.current, { params: {}, query: {} }, controller.signal),
      // Longer than the test may take.
      { headersTimeoutMs: 600_000, totalTimeoutMs: 600_000 },
    )
    expect(failure).toEqual({ kind: 'cancelled', maybeSent: true })
  })

  test('a request that is cancelled between two attempts ends at once', async () => {
    const controller = new AbortController()
    const { failure, seen } = await against(
      (_, res) => {
        json(res, 503, envelope('busy'), { 'retry-after': '20' })
        setTimeout(() => controller.abort(), 50)
      },
      (client) =>
        client.call(routes.accounts.current, { params: {}, query: {} }, controller.signal),
    )
    expect(failure).toEqual({ kind: 'cancelled', maybeSent: false })
    expect(seen).toHaveLength(1)
  })
})

describe('redirects', () => {
  test('within the origin are followed', async () => {
    const { value, seen } = await against(
      ({ url }, res) =>
        url.endsWith('/')
          ? json(res, 200, account)
          : res.writeHead(307, { location: `${url}/` }).end(),
      getAccount,
    )
    expect(value).toEqual(account)
    expect(seen).toHaveLength(2)
  })

  test('to another origin are refused, and the key is not sent there', async () => {
    await using elsewhere = await startFakePlatform((_, res) => json(res, 200, account))
    const { failure } = await against(
      (_, res) => res.writeHead(302, { location: `${elsewhere.url}/v1/accounts/current` }).end(),
      getAccount,
    )
    expect(failure).toEqual({
      kind: 'redirected',
      status: 302,
      origin: elsewhere.url,
      reason: 'elsewhere',
    })
    expect(elsewhere.seen).toHaveLength(0)
  })

  test.each([307, 308])(
    'of a POST with %s are not followed: it may have been done',
    async (status) => {
      const { failure, seen } = await against(
        ({ url }, res) => res.writeHead(status, { location: `${url}/` }).end(),
        createSubaccount,
      )
      expect(failure).toMatchObject({ kind: 'redirected', status, reason: 'not_repeatable' })
      expect(seen).toHaveLength(1)
    },
  )

  test('that would turn a POST into a GET are refused', async () => {
    const { failure, seen } = await against(
      ({ url }, res) => res.writeHead(303, { location: url }).end(),
      createSubaccount,
    )
    expect(failure).toMatchObject({ kind: 'redirected', status: 303 })
    expect(seen).toHaveLength(1)
  })

  test('in a circle are refused', async () => {
    const { failure } = await against(
      ({ url }, res) => res.writeHead(307, { location: url }).end(),
      getAccount,
    )
    expect(failure).toMatchObject({ kind: 'redirected' })
  })
})
