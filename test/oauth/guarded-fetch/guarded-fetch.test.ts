import type { RequestListener } from 'node:http'
import { gzipSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  createGuardedFetch,
  type GuardedFetchOptions,
  isPublicAddress,
} from '../../../src/oauth/guarded-fetch.ts'
import { certificate } from '../../harness/certificate.ts'
import { startDocumentServer, trusted } from '../../harness/client-document-server.ts'
import { startConnectProxy } from '../../harness/connect-proxy.ts'

/** The only IP address that counts as public in these tests. */
const allowed = '127.0.0.1'
const addressesOf = (...addresses: string[]) =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

const document = { client_id: 'https://platform.example/client.json' }
const asDocument: RequestListener = (_, response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'max-age=60' })
  response.end(JSON.stringify(document))
}

const guarded = (options: GuardedFetchOptions = {}) => {
  const guard = createGuardedFetch({
    mayReach: (address) => address === allowed,
    resolveHost: async () => addressesOf(allowed),
    ca: trusted,
    ...options,
  })
  onTestFinished(() => guard.close())
  return guard
}

const serve = async (answer: RequestListener = asDocument) => {
  const server = await startDocumentServer(answer)
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Error code of a failed fetch. */
const refusal = async (fetching: Promise<Response>) => {
  const error = await fetching.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof Error && 'code' in error ? error.code : error
}

describe('a document', () => {
  test('is fetched, with the headers that say how long it may be kept', async () => {
    const server = await serve()
    const reply = await guarded().fetch(server.address)
    expect(await reply.json()).toEqual(document)
    expect(reply.headers.get('cache-control')).toBe('max-age=60')
  })

  test('may have another type that is JSON', async () => {
    const server = await serve((_, response) => {
      response.setHeader('content-type', 'application/oauth-client+json; charset=utf-8').end('{}')
    })
    expect(await (await guarded().fetch(server.address)).json()).toEqual({})
  })

  test('of which no connection is kept', async () => {
    const server = await serve()
    const guard = guarded()
    await guard.fetch(server.address)
    await expect.poll(() => server.connections().open).toBe(0)
  })
})

describe('an address', () => {
  test.each([
    'http://platform.example/client.json',
    'https://user:password@platform.example/client.json',
    'file:///etc/passwd',
    'data:application/json,{}',
    'not an address',
  ])('must be plain https: %s', async (address) => {
    expect(await refusal(guarded().fetch(address))).toBe('not_https')
  })

  test.each([
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '017700000001',
    '127.1',
    '①②⑦.⓪.⓪.①',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::127.0.0.1]',
    '10.0.0.1',
    '169.254.169.254',
    '100.100.100.200',
    '[fd00:ec2::254]',
  ])('of a machine that is not public is refused in any spelling: %s', async (host) => {
    const server = await serve()
    const guard = createGuardedFetch({ ca: trusted })
    onTestFinished(() => guard.close())
    expect(await refusal(guard.fetch(`https://${host}:${server.port}/client.json`))).toBe(
      'not_public',
    )
    expect(server.connections().made).toBe(0)
  })

  test.each(['localhost', 'localhost.', 'LOCALHOST', 'anything.localhost'])(
    'of this machine by name is refused: %s',
    async (host) => {
      const server = await serve()
      const guard = createGuardedFetch({ ca: trusted })
      onTestFinished(() => guard.close())
      expect(await refusal(guard.fetch(`https://${host}:${server.port}/`))).toBe('not_public')
      expect(server.connections().made).toBe(0)
    },
  )

  test.each([[['10.0.0.1']], [[allowed, '10.0.0.1']], [['::ffff:10.0.0.1', allowed]], [['::1']]])(
    'whose name leads to %j is refused before a connection',
    async (addresses) => {
      const server = await serve()
      const guard = guarded({ resolveHost: async () => addressesOf(...addresses) })
      expect(await refusal(guard.fetch(server.address))).toBe('not_public')
      expect(server.connections().made).toBe(0)
    },
  )

  test('whose name has no address', async () => {
    const guard = guarded({ resolveHost: async () => [] })
    expect(await refusal(guard.fetch('https://platform.example/'))).toBe('unresolved')
    const failing = guarded({ resolveHost: () => Promise.reject(new Error('ENOTFOUND')) })
    expect(await refusal(failing.fetch('https://platform.example/'))).toBe('unresolved')
  })

  test('is connected to as it was checked, though the name leads elsewhere the next time', async () => {
    const server = await serve()
    let asked = 0
    const resolveHost = async () => addressesOf(asked++ === 0 ? allowed : '10.0.0.1')
    const guard = guarded({ resolveHost })
    expect((await guard.fetch(server.address)).status).toBe(200)
    expect(asked).toBe(1)
    // The next fetch resolves the host again, and checks the new address.
    expect(await refusal(guard.fetch(server.address))).toBe('not_public')
    expect(server.connections().made).toBe(1)
  })
})

describe('a reply', () => {
  test.each([301, 302, 303, 307, 308])('redirect %d is not followed', async (status) => {
    const server = await serve((request, response) => {
      if (request.url !== '/client.json') return asDocument(request, response)
      response.writeHead(status, { location: '/secret' }).end()
    })
    expect(await refusal(guarded().fetch(server.address))).toBe('status')
    expect(server.asked).toEqual(['/client.json'])
  })

  test.each([204, 404, 500])('with status %d is none', async (status) => {
    const server = await serve((_, response) => void response.writeHead(status).end())
    expect(await refusal(guarded().fetch(server.address))).toBe('status')
  })

  test.each(['text/html', 'application/javascript', 'application/jsonp', undefined])(
    'of type %s is none',
    async (type) => {
      const server = await serve((_, response) => {
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end('{}')
      })
      expect(await refusal(guarded().fetch(server.address))).toBe('not_json')
    },
  )

  test('that is compressed is none, so that nothing small becomes large', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(' '.repeat(1_000_000)))
    })
    expect(await refusal(guarded().fetch(server.address))).toBe('not_json')
  })

  test('that says it is too large is not read', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 10_241 })
      response.write('{')
    })
    expect(await refusal(guarded().fetch(server.address))).toBe('too_large')
    await expect.poll(() => server.connections().open).toBe(0)
  })

  test('without end is left after ten kilobytes', async () => {
    let sent = 0
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const chunk = ' '.repeat(1000)
      const more = setInterval(() => {
        sent += chunk.length
        response.write(chunk)
      }, 1)
      response.on('close', () => clearInterval(more))
    })
    expect(await refusal(guarded().fetch(server.address))).toBe('too_large')
    await expect.poll(() => server.connections().open).toBe(0)
    expect(sent).toBeLessThan(1_000_000)
  })

  test('with endless headers is left', async () => {
    const server = await serve(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const more = setInterval(() => socket.write(`x-more: ${'x'.repeat(1000)}\r\n`), 1)
      socket.on('close', () => clearInterval(more))
    })
    expect(await refusal(guarded().fetch(server.address))).toBe('unreachable')
    await expect.poll(() => server.connections().open).toBe(0)
  })
})

describe('time', () => {
  const timeLimitMs = 400

  test('a body that drips is left when the time is over', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drip))
    })
    const start = performance.now()
    expect(await refusal(guarded({ timeLimitMs }).fetch(server.address))).toBe('too_slow')
    expect(performance.now() - start).toBeLessThan(8000)
    await expect.poll(() => server.connections().open).toBe(0)
  })

  test('headers that never come', async () => {
    const server = await serve(() => undefined)
    expect(await refusal(guarded({ timeLimitMs }).fetch(server.address))).toBe('too_slow')
  })

  test('a name server that never answers', async () => {
    const guard = guarded({ timeLimitMs, resolveHost: () => new Promise(() => undefined) })
    expect(await refusal(guard.fetch('https://platform.example/'))).toBe('too_slow')
  })

  test('the caller may end it sooner', async () => {
    const server = await serve(() => undefined)
    const signal = AbortSignal.timeout(100)
    expect(await refusal(guarded().fetch(server.address, { signal }))).toBe('too_slow')
  })
})

describe('a connection', () => {
  test('to a host whose certificate is not trusted, or is of another name', async () => {
    const server = await serve()
    const untrusting = guarded({ ca: certificate })
    expect(await refusal(untrusting.fetch(server.address))).toBe('unreachable')
    const other = `https://other.example:${server.port}/`
    expect(await refusal(guarded().fetch(other))).toBe('unreachable')
    expect(server.asked).toEqual([])
  })

  test('that is refused', async () => {
    const server = await startDocumentServer(asDocument)
    await server[Symbol.asyncDispose]()
    expect(await refusal(guarded().fetch(server.address))).toBe('unreachable')
  })
})

describe('numbers', () => {
  test('a host is asked only so often', async () => {
    const server = await serve()
    const guard = guarded({ perHost: 3 })
    for (const _ of [1, 2, 3]) await guard.fetch(server.address)
    expect(await refusal(guard.fetch(server.address))).toBe('too_many')
    expect(server.asked).toHaveLength(3)
  })

  test('so many documents are fetched at once', async () => {
    const server = await serve(() => undefined)
    const guard = guarded({ concurrency: { inAll: 2, perNetwork: 2 }, timeLimitMs: 500 })
    const first = [refusal(guard.fetch(server.address)), refusal(guard.fetch(server.address))]
    expect(await refusal(guard.fetch(server.address))).toBe('too_many')
    expect(await Promise.all(first)).toEqual(['too_slow', 'too_slow'])
    expect(await refusal(guard.fetch(server.address))).toBe('too_slow')
  })

  test('one network of clients has only so many at once, and a minute; others have theirs', async () => {
    const server = await serve((request, response) => {
      if (request.url !== '/slow') asDocument(request, response)
    })
    const slow = new URL('/slow', server.address)
    const guard = guarded({
      perNetwork: 4,
      concurrency: { inAll: 9, perNetwork: 2 },
      timeLimitMs: 500,
    })
    const from = (network: string, address: string | URL = server.address) =>
      guard.fetch(address, { network }).then(
        () => 'fetched',
        ({ code }) => code,
      )
    const first = [from('a', slow), from('a', slow)]
    expect(await from('a')).toBe('too_many')
    expect(await from('b')).toBe('fetched')
    expect(await Promise.all(first)).toEqual(['too_slow', 'too_slow'])
    expect([await from('a'), await from('a'), await from('a')]).toEqual([
      'fetched',
      'fetched',
      'too_many',
    ])
    expect(await from('b')).toBe('fetched')
  })
})

describe('with a proxy', () => {
  const behindProxy = async (options: GuardedFetchOptions & { except?: string } = {}) => {
    const server = await serve()
    const proxy = await startConnectProxy(server.port)
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const { except = '' } = options
    const guard = guarded({
      resolveHost: () => Promise.reject(new Error('no name server')),
      ...options,
      proxy: { url: proxy.url.href, except },
    })
    return { server, proxy, guard }
  }

  test('the proxy resolves the name', async () => {
    const { proxy, guard } = await behindProxy()
    const reply = await guard.fetch('https://platform.example/client.json')
    expect(await reply.json()).toEqual(document)
    expect(proxy.asked).toMatchObject([{ target: 'platform.example:443' }])
  })

  test.each([
    '10.0.0.1',
    '[::1]',
    'localhost',
    'vault',
    'vault.',
    'metadata.google.internal',
    'nas.local',
  ])('it is not asked for what is not public: %s', async (host) => {
    const { proxy, guard } = await behindProxy({ mayReach: isPublicAddress })
    expect(await refusal(guard.fetch(`https://${host}/client.json`))).toBe('not_public')
    expect(proxy.asked).toEqual([])
  })

  test('a host that is reached without it is checked as always', async () => {
    const resolveHost = async () => addressesOf('10.0.0.1')
    const { proxy, guard } = await behindProxy({ except: 'platform.example', resolveHost })
    expect(await refusal(guard.fetch('https://platform.example/'))).toBe('not_public')
    expect(proxy.asked).toEqual([])
  })

  test('a proxy that refuses is a host that cannot be reached', async () => {
    const proxy = await startConnectProxy(1, { refuse: 403 })
    onTestFinished(() => proxy[Symbol.asyncDispose]())
    const guard = guarded({ proxy: { url: proxy.url.href, except: '' } })
    expect(await refusal(guard.fetch('https://platform.example/'))).toBe('unreachable')
  })
})
