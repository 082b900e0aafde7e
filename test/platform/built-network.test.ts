import { writeFileSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectStdio, errorOf } from '../harness/client.ts'
import { startConnectProxy } from '../harness/connect-proxy.ts'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { authority, signed } from '../harness/private-ca.ts'
import { scratchFolder, startHttpProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'

/*
 * Network features of the built program, which depend on the bundle containing all libraries' code:
 * TLS, certificate authorities and proxies.
 */

const account = { id: 'a1', name: 'Fake' }
/** A read that the fake platform records in `seen`. */
const read = {
  name: 'get_subaccount',
  arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
}
const key = { VOICE_AGENT_API_KEY: 'some-key' }
const create = { name: 'create_subaccount', arguments: { name: 'x' } }

/** A certificate authority's file in a temporary folder. */
function trusted() {
  const folder = scratchFolder()
  const file = join(folder.path, 'authority.pem')
  writeFileSync(file, authority)
  return { ...folder, file }
}

const tlsPlatform = (host?: string) =>
  startFakePlatform((_, response) => json(response, 200, account), {
    account: account.id,
    tls: signed,
    ...(host && { host }),
  })

/** Error for a certificate of another host. */
const otherName = {
  advice: 'certificate',
  code: 'ERR_TLS_CERT_ALTNAME_INVALID',
  maybeSent: false,
}

const portOf = (url: string) => Number(new URL(url).port)

/** Starts a program with these settings and calls a tool. */
async function ask(
  env: Record<string, string>,
  asked: { name: string; arguments: Record<string, string> } = read,
) {
  await using client = await connectStdio('v2 2026-07-28', { env: { ...key, ...env } })
  return await client.call(asked.name, asked.arguments)
}

describe('a platform on https', () => {
  test('whose certificate a private authority has signed is refused', async () => {
    await using platform = await tlsPlatform()
    const refused = await ask({ VOICE_AGENT_BASE_URL: platform.url })
    expect(refused.isError).toBe(true)
    expect(errorOf(refused)).toMatchObject({ advice: 'certificate', maybeSent: false })
    expect(platform.seen).toHaveLength(0)
  })

  test('is trusted with NODE_EXTRA_CA_CERTS', async () => {
    using ca = trusted()
    await using platform = await tlsPlatform()
    const { isError } = await ask({
      VOICE_AGENT_BASE_URL: platform.url,
      NODE_EXTRA_CA_CERTS: ca.file,
    })
    expect(isError).toBeFalsy()
  })

  // On Linux, Node.js reads the system's certificates from SSL_CERT_FILE, as OpenSSL does.
  test.runIf(process.platform === 'linux')(
    "is trusted with NODE_USE_SYSTEM_CA where the system's store has the authority",
    async () => {
      using ca = trusted()
      await using platform = await tlsPlatform()
      const { isError } = await ask({
        VOICE_AGENT_BASE_URL: platform.url,
        NODE_USE_SYSTEM_CA: '1',
        SSL_CERT_FILE: ca.file,
      })
      expect(isError).toBeFalsy()
    },
  )

  test('that shows a certificate for another name is refused, and nothing is sent', async () => {
    using ca = trusted()
    await using platform = await tlsPlatform('127.0.0.2')
    const refused = await ask({
      VOICE_AGENT_BASE_URL: platform.url,
      NODE_EXTRA_CA_CERTS: ca.file,
    })
    expect(errorOf(refused)).toMatchObject(otherName)
    expect(platform.seen).toHaveLength(0)
  })
})

describe('through HTTPS_PROXY', () => {
  /** A platform that only the proxy resolves, the proxy, and the settings for both. */
  async function behindProxy(options: Parameters<typeof startConnectProxy>[1] = {}) {
    const ca = trusted()
    const platform = await tlsPlatform()
    const proxy = await startConnectProxy(portOf(platform.url), options)
    return {
      platform,
      proxy,
      env: {
        VOICE_AGENT_BASE_URL: 'https://platform.example',
        HTTPS_PROXY: proxy.url.href,
        NODE_EXTRA_CA_CERTS: ca.file,
      },
      async [Symbol.asyncDispose]() {
        await proxy[Symbol.asyncDispose]()
        await platform[Symbol.asyncDispose]()
        ca[Symbol.dispose]()
      },
    }
  }

  test('the platform is reached by CONNECT, over TLS from end to end', async () => {
    await using there = await behindProxy()
    const { isError, structuredContent } = await ask(there.env)
    expect(isError).toBeFalsy()
    expect(structuredContent).toMatchObject({ id: 'a1' })
    expect(there.proxy.asked[0]).toEqual({
      target: 'platform.example:443',
      authorization: undefined,
    })
    expect(there.proxy.plain()).toBe(0)
  })

  test('a program that serves HTTP reaches the platform by CONNECT, too', async () => {
    await using there = await behindProxy()
    await using program = await startHttpProgram({ ...key, ...there.env })
    const { result } = await rpc(program.url, 'tools/call', read)
    expect(result).toMatchObject({ structuredContent: { id: 'a1' } })
    expect(there.proxy.asked.length).toBeGreaterThan(0)
  })

  test('the proxy may speak TLS itself', async () => {
    await using there = await behindProxy({ tls: signed })
    expect((await ask(there.env)).isError).toBeFalsy()
    expect(there.proxy.asked[0]?.target).toBe('platform.example:443')
  })

  test('user name and password in its address are sent to the proxy only', async () => {
    await using there = await behindProxy({ credentials: 'me@work:p%ss' })
    const HTTPS_PROXY = `http://me%40work:p%25ss@${there.proxy.url.host}`
    expect((await ask({ ...there.env, HTTPS_PROXY })).isError).toBeFalsy()
    expect(there.platform.seen[0]?.headers).not.toHaveProperty('proxy-authorization')
  })

  test('a proxy that requires a password is reported as such, and nothing is sent', async () => {
    await using there = await behindProxy({ credentials: 'me:secret' })
    const refused = await ask(there.env, create)
    expect(errorOf(refused)).toMatchObject({
      advice: 'proxy_refused',
      code: 'PROXY_407',
      maybeSent: false,
      next: expect.stringContaining('HTTPS_PROXY'),
    })
    expect(there.platform.seen).toHaveLength(0)
  })

  test('a proxy that closes the connection is reported as a network failure, and nothing is sent', async () => {
    await using there = await behindProxy({ refuse: 'close' })
    expect(errorOf(await ask(there.env, create))).toMatchObject({
      advice: 'unreachable',
      code: 'UND_ERR_PRX_CONN',
      maybeSent: false,
      retryable: true,
    })
  })

  test('a certificate that is not trusted is refused inside the tunnel, too', async () => {
    await using there = await behindProxy()
    const refused = await ask({ ...there.env, NODE_EXTRA_CA_CERTS: '' })
    expect(errorOf(refused)).toMatchObject({ advice: 'certificate', maybeSent: false })
    expect(there.platform.seen).toHaveLength(0)
  })

  test('a certificate for another name is refused inside the tunnel, too', async () => {
    await using there = await behindProxy()
    const refused = await ask({ ...there.env, VOICE_AGENT_BASE_URL: 'https://other.example' })
    expect(errorOf(refused)).toMatchObject(otherName)
  })

  // 0.0.0.0 leads to this machine, but the program does not treat it as loopback.
  test.skipIf(process.platform === 'win32')('NO_PROXY names hosts that need none', async () => {
    using ca = trusted()
    await using platform = await tlsPlatform('0.0.0.0')
    await using proxy = await startConnectProxy(portOf(platform.url))
    const env = {
      VOICE_AGENT_BASE_URL: platform.url,
      HTTPS_PROXY: proxy.url.href,
      NODE_EXTRA_CA_CERTS: ca.file,
    }
    expect((await ask({ ...env, NO_PROXY: 'example.com,0.0.0.0' })).isError).toBeFalsy()
    expect(proxy.asked).toHaveLength(0)
    expect((await ask({ ...env, NO_PROXY: 'example.com' })).isError).toBeFalsy()
    expect(proxy.asked.length).toBeGreaterThan(0)
  })
})

const hasIpv6 = Object.values(networkInterfaces()).some((found) =>
  found?.some(({ address }) => address === '::1'),
)
describe.skipIf(!hasIpv6)('IPv6', () => {
  test('the program reaches a platform at [::1]', async () => {
    await using platform = await startFakePlatform((_, res) => json(res, 200, account), {
      host: '::1',
    })
    const { structuredContent } = await ask({ VOICE_AGENT_BASE_URL: platform.url })
    expect(structuredContent).toMatchObject({ id: 'a1' })
  })

  test('the program reaches a platform on https at [::1]', async () => {
    using ca = trusted()
    await using platform = await tlsPlatform('::1')
    const env = { VOICE_AGENT_BASE_URL: platform.url, NODE_EXTRA_CA_CERTS: ca.file }
    expect((await ask(env)).isError).toBeFalsy()
  })

  test('--host ::1 listens on the IPv6 loopback address', async () => {
    await using program = await startHttpProgram({}, ['--host', '::1'])
    expect(program.url).toMatch(/^http:\/\/\[::1\]:\d+\/mcp$/)
    const health = await fetch(new URL('/health', program.url))
    expect(health.status).toBe(200)
  })
})

describe('a connection that the platform closes just as a request is sent', () => {
  /**
   * A platform that closes each connection when its second request arrives, as a server does with
   * an idle connection just as it is reused.
   */
  async function onceAndGone() {
    const posts: string[] = []
    const sockets = new Set<Socket>()
    const body = JSON.stringify(account)
    const reply = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
    let broken = 0
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
      let requests = 0
      socket.on('data', (chunk: Buffer) => {
        const [, method = '', path = ''] = /^(GET|POST) (\S+)/.exec(chunk.toString()) ?? []
        if (method === 'POST') posts.push(path)
        if (method === '') return
        if (++requests === 1) return void socket.write(reply)
        broken++
        socket.resetAndDestroy()
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    return {
      env: { ...key, VOICE_AGENT_BASE_URL: `http://127.0.0.1:${port}` },
      posts,
      broken: () => broken,
      [Symbol.asyncDispose]: () =>
        new Promise<void>((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets) socket.destroy()
        }),
    }
  }

  test('is retried once by a read', async () => {
    await using platform = await onceAndGone()
    await using client = await connectStdio('v2 2026-07-28', { env: platform.env })
    for (let time = 0; time < 10; time++) {
      expect((await client.call(read.name, read.arguments)).isError).toBeFalsy()
    }
    expect(platform.broken()).toBeGreaterThan(0)
  })

  test('never causes a second POST; the error says that the first POST may have been carried out', async () => {
    await using platform = await onceAndGone()
    await using client = await connectStdio('v2 2026-07-28', { env: platform.env })
    const results = []
    for (let time = 0; time < 10; time++) {
      results.push(await client.call('create_subaccount', { name: `S${time}` }))
    }
    expect(platform.posts).toHaveLength(10)
    const failed = results.filter(({ isError }) => isError)
    expect(failed.length).toBeGreaterThan(0)
    for (const result of failed) {
      expect(errorOf(result)).toMatchObject({ kind: 'network', maybeSent: true, retryable: false })
    }
  })
})
