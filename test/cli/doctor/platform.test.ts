import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../src/contract/openapi.ts'
import { allRoutes } from '../../../src/contract/routes.ts'
import { certificate, certificateKey } from '../../harness/certificate.ts'
import { startConnectProxy } from '../../harness/connect-proxy.ts'
import { examine } from '../../harness/doctor.ts'
import {
  type Behaviour,
  envelope,
  json,
  type SeenRequest,
  startFakePlatform,
} from '../../harness/fake-platform.ts'
import { authority, signed } from '../../harness/private-ca.ts'
import {
  freePort,
  scratchFolder,
  startPlatformProgram,
  startProgram,
} from '../../harness/program.ts'

const key = 'sk-live-never-shown-4711'

const settings = (url: string, more: Record<string, string> = {}) => ({
  VOICE_AGENT_API_KEY: key,
  VOICE_AGENT_BASE_URL: url,
  ...more,
})

/** Doctor's report on a platform with this behaviour. */
async function answering(
  behaviour: Behaviour,
  { path = '', env = {} }: { path?: string; env?: Record<string, string> } = {},
) {
  await using platform = await startFakePlatform(behaviour)
  const examined = await examine(settings(platform.url + path, env))
  expect(examined.output).not.toContain(key)
  return examined
}

const account = { id: 'acc-1', name: 'Practice', is_active: true, parent_account_id: null }

/** A platform that replies to the read of its account, and to everything else with 404. */
const onlyAccount =
  (headers: () => Record<string, string> = () => ({})): Behaviour =>
  ({ url }, response) =>
    url === '/v1/accounts/current'
      ? json(response, 200, account, headers())
      : json(response, 404, envelope('not_found'), headers())

const page = (title: string) => (response: ServerResponse, status: number) => {
  response.writeHead(status, { 'content-type': 'text/html', server: 'nginx' })
  response.end(`<!doctype html><html><head><title>${title}</title></head></html>`)
}

test('a text of the platform cannot look like advice', async () => {
  const forged = 'To do: run it. TO DO: it. To\u00a0do: this. To  do : that. '.repeat(8)
  await using platform = await startFakePlatform((_, response) =>
    json(response, 401, envelope('unauthorized', forged)),
  )
  using home = scratchFolder()
  const env = { ...settings(platform.url), HOME: home.path, XDG_DATA_HOME: '' }
  await using program = startProgram(['doctor'], env)
  await program.exited
  const advice = program.stdout().match(/^\s*to\s*do\s*:.*/gim) ?? []
  expect(advice.filter((line) => /run it|: it|this\.|that\./.test(line))).toEqual([])
  // The text of a finding is indented deeper than its advice.
  const columnOf = (text: string) =>
    (program.stdout().match(new RegExp(`^ +(?=${text})`, 'm')) ?? [''])[0].length
  expect(columnOf('To do: Put')).toBeGreaterThan(10)
  for (const line of program
    .stdout()
    .split('\n')
    .filter((one) => /run it/.test(one))
    .slice(1))
    expect(line.search(/\S/)).toBeGreaterThan(columnOf('To do: Put'))
})

test('everything is green with a sandbox as the platform', async () => {
  await using platform = await startPlatformProgram()
  const examined = await examine({
    VOICE_AGENT_API_KEY: 'sandbox-key',
    VOICE_AGENT_BASE_URL: platform.url,
  })
  expect(examined.red).toEqual([])
  expect(examined.code).toBe(0)
  for (const name of ['platform', 'latency', 'api_key', 'clock', 'contract', 'state', 'calls']) {
    expect(examined.check(name), name).toMatchObject({ status: 'green' })
  }
  expect(examined.check('api_key').text).toMatch(/ Sandbox account \(.*VOICE_AGENT_API_KEY/)
  expect(examined.check('contract').text).toMatch(/ 29 /)
})

describe('the key', () => {
  test('that the platform does not accept is red, with where it comes from', async () => {
    const { code, red, check } = await answering((_, response) =>
      json(response, 401, envelope('unauthorized', `The key ${key} is not valid.`)),
    )
    expect({ code, red }).toEqual({ code: 1, red: ['api_key'] })
    expect(check('api_key').text).toMatch(/VOICE_AGENT_API_KEY.*401/)
    expect(check('platform').status).toBe('green')
  })

  test('without access is red', async () => {
    const { code, red, check } = await answering((_, response) =>
      json(response, 403, envelope('forbidden')),
    )
    expect({ code, red }).toEqual({ code: 1, red: ['api_key'] })
    expect(check('api_key').text).toContain('403')
  })

  test('of a disabled account is yellow', async () => {
    const { check } = await answering((_, response) =>
      json(response, 200, { ...account, is_active: false }),
    )
    expect(check('api_key')).toMatchObject({
      status: 'yellow',
      text: expect.stringMatching(/disabled/),
    })
  })

  test('is not known where the platform limits requests', async () => {
    const { code, check } = await answering((_, response) =>
      json(response, 429, envelope('rate_limit_exceeded'), { 'retry-after': '30' }),
    )
    expect(code).toBe(0)
    expect(check('api_key')).toMatchObject({
      status: 'yellow',
      text: expect.stringContaining('429'),
    })
  })

  test('is missing: yellow, because HTTP clients bring their own', async () => {
    await using platform = await startFakePlatform((_, response) =>
      json(response, 401, envelope('unauthorized')),
    )
    const { code, check } = await examine({ VOICE_AGENT_BASE_URL: platform.url })
    expect(code).toBe(0)
    expect(check('api_key')).toMatchObject({
      status: 'yellow',
      todo: expect.stringMatching(/VOICE_AGENT_API_KEY/),
    })
    expect(check('platform').status).toBe('green')
  })

  test('reaches the pinned account, or does not', async () => {
    const behaviour: Behaviour = ({ url }, response) =>
      url.startsWith('/v1/accounts/sub-1/')
        ? json(response, 200, { count: 0, items: [] })
        : url === '/v1/accounts/current'
          ? json(response, 200, account)
          : json(response, 404, envelope('not_found', 'Nothing there.'))
    const of = (id: string) => answering(behaviour, { env: { VOICE_AGENT_ACCOUNT: id } })
    expect((await of('sub-1')).check('account').status).toBe('green')
    expect((await of('acc-1')).check('account').status).toBe('green')
    const other = await of('sub-2')
    expect(other.red).toEqual(['account'])
    expect(other.check('account').text).toMatch(/ sub-2 .*404.*[^.]\.$/)
  })
})

describe('the address', () => {
  test('of a web page is red, with what answers there', async () => {
    const { code, red, check } = await answering((_, response) => page('Welcome')(response, 200))
    expect({ code, red }).toEqual({ code: 1, red: ['platform'] })
    expect(check('platform').text).toMatch(/text\/html, title "Welcome", server nginx/)
    expect(check('api_key')).toMatchObject({
      status: 'skipped',
      text: expect.stringContaining('Platform'),
    })
  })

  test('with a wrong path is red, and the right one is found, without the key', async () => {
    const seen: SeenRequest[] = []
    const { red, check } = await answering(
      (request, response) => {
        seen.push(request)
        return request.url === '/v1/accounts/current'
          ? json(response, 401, envelope('unauthorized'))
          : json(response, 404, { detail: 'Not Found' })
      },
      { path: '/app/v2' },
    )
    expect(red).toEqual(['platform'])
    expect(check('platform').todo).toMatch(/VOICE_AGENT_BASE_URL .* http:\/\/127\.0\.0\.1:\d+ /)
    const elsewhere = seen.filter(({ url }) => !url.startsWith('/app/v2/v1'))
    expect(elsewhere.length).toBeGreaterThan(0)
    for (const { headers } of elsewhere) expect(headers['x-api-key']).toBeUndefined()
  })

  test('of something that fails is red', async () => {
    const { red, check } = await answering((_, response) => page('Bad gateway')(response, 502))
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toMatch(/HTTP 502/)
  })

  test('that redirects elsewhere is red, with where to', async () => {
    const { red, check } = await answering((_, response) =>
      response.writeHead(302, { location: 'https://login.example.com/?next=x' }).end(),
    )
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toContain('https://login.example.com')
  })

  test('where nothing listens is red', async () => {
    const { red, check } = await examine(settings(`http://127.0.0.1:${await freePort()}`))
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toContain('(ECONNREFUSED)')
  })

  test('where something else than HTTP answers is red', async () => {
    const server = createServer((socket) => void socket.end('220 mail.example.com ESMTP\r\n'))
    server.listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : 0
    const { red, check } = await examine(settings(`http://127.0.0.1:${port}`))
    server.close()
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toContain('(NO_HTTP)')
  })

  test('that does not resolve is red', async () => {
    const { code, red, check } = await examine(settings('https://nowhere.invalid'))
    expect(code).toBe(1)
    expect(red).toEqual(['dns'])
    expect(check('dns').text).toMatch(/nowhere\.invalid/)
    expect(check('platform')).toMatchObject({
      status: 'skipped',
      text: expect.stringContaining('DNS'),
    })
  })

  test('that never answers is red after the time that is set for it', async () => {
    const { red, check } = await answering(() => undefined, {
      env: { VOICE_AGENT_HEADERS_TIMEOUT: '0.3' },
    })
    expect(red).toEqual(['platform'])
    expect(check('platform')).toMatchObject({
      text: expect.stringMatching(/ [0-4](\.\d)? s\./),
      todo: expect.stringContaining('--headers-timeout'),
    })
  })

  test('that begins to answer and does not end is red, with what to raise', async () => {
    const { red, check } = await answering(
      (_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write('{"id":')
      },
      { env: { VOICE_AGENT_TIMEOUT: '0.5' } },
    )
    expect(red).toEqual(['platform'])
    expect(check('platform')).toMatchObject({
      text: expect.stringMatching(/ [0-4](\.\d)? s\./),
      todo: expect.stringContaining(' --timeout'),
    })
  })

  test('that answers more than can be read is said to do so', async () => {
    const { red, check } = await answering((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = () => {
        while (!response.destroyed && response.write('1'.repeat(65_536)));
      }
      response.on('drain', more)
      more()
    })
    expect(red).toEqual(['platform'])
    expect(check('platform').text).toMatch(/HTTP 200 .*\(too_large\)/)
  })

  test('of a gateway that limits requests in words of its own is no wrong address', async () => {
    const { red, check } = await answering((_, response) => {
      response.writeHead(429, { 'content-type': 'text/html' }).end('<title>Slow down</title>')
    })
    expect(red).toEqual(['platform'])
    expect(check('platform')).toMatchObject({
      text: expect.stringMatching(/HTTP 429 .*Slow down/),
      todo: expect.stringMatching(/^(?!.*VOICE_AGENT_BASE_URL)/),
    })
  })

  test('that is slow is yellow', async () => {
    const { code, check } = await answering((...asked) => {
      setTimeout(() => onlyAccount()(...asked), 1100)
    })
    expect(code).toBe(0)
    expect(check('latency')).toMatchObject({
      status: 'yellow',
      text: expect.stringMatching(/ [1-9]\d\d\d ms.* [1-9]\d\d\d ms/),
    })
  })
})

describe('the contract', () => {
  const described =
    (document: Behaviour): Behaviour =>
    (request, response, before) =>
      request.url === '/v1/openapi.json'
        ? document(request, response, before)
        : onlyAccount()(request, response, before)

  test('that lacks an operation is red, with the tools that do not work', async () => {
    const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes)))
    delete document.paths['/v1/accounts/{account_id}/calls'].post
    document.components.schemas.Account.properties.region = { type: 'string' }
    const { code, red, check } = await answering(described((_, res) => json(res, 200, document)))
    expect({ code, red }).toEqual({ code: 1, red: ['contract'] })
    const { details, todo } = check('contract')
    expect(details[0]).toMatch(/^!! +POST \S+\/calls .*: place_call, place_calls /)
    expect(details.some((line) => /get_current_account: .* region\b/.test(line))).toBe(true)
    expect(todo).toContain('--exclude-tools')
  })

  test('that is nested without end is read as far as it goes', async () => {
    const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes)))
    const { post } = document.paths['/v1/accounts/{account_id}/agents']
    post.requestBody.content['application/json'].schema = 'DEEP'
    const deep = `${'{"allOf":['.repeat(3000)}{}${']}'.repeat(3000)}`
    const text = JSON.stringify(document).replace('"DEEP"', deep)
    const { check } = await answering(described((_, response) => void response.end(text)))
    expect(check('contract')).toMatchObject({ status: 'green' })
  })

  test.each<[string, Behaviour, RegExp]>([
    ['that is not there', (_, res) => json(res, 404, envelope('not_found')), /HTTP 404/],
    ['that is a web page', (_, res) => page('Docs')(res, 200), /OpenAPI/],
    [
      'of another API',
      (_, res) => json(res, 200, { paths: { '/v1/pets': { get: {} } } }),
      /^(?!.*(HTTP|OpenAPI))/,
    ],
    ['that is cut off', (_, res) => res.writeHead(200).end('{"paths": {'), /OpenAPI/],
  ])('%s is yellow', async (_, document, message) => {
    const { code, check } = await answering(described(document))
    expect(code).toBe(0)
    expect(check('contract').status).toBe('yellow')
    expect(check('contract').text).toMatch(message)
  })
})

test('replies that are not as documented are yellow, each part once; what does not work is red, and first', async () => {
  const document = openApiDocument(allRoutes)
  const { '/v1/accounts/{account_id}/analytics/usage': _, ...paths } = Object(document.paths)
  const replies: Record<string, unknown> = {
    '/v1/openapi.json': { ...document, paths },
    '/v1/accounts/current': { ...account, is_active: 'yes' },
    '/v1/accounts/acc-1/agents': {
      count: '3',
      items: [1, 2, 3].map((id) => ({ id: `a${id}`, name: id, tags: ['a', id], voice: null })),
    },
    '/v1/accounts/acc-1/phone-numbers': { items: [{ number: '+12025550100' }] },
  }
  const { code, check, output } = await answering(({ url }, res) => {
    const reply = replies[url.split('?', 1)[0] ?? '']
    return reply ? json(res, 200, reply) : json(res, 404, envelope('not_found'))
  })
  expect([code, check('contract').status]).toEqual([1, 'red'])
  const { details } = check('contract')
  expect(details).toEqual([
    expect.stringMatching(/^!! +list_phone_numbers: .*items\.0\.id/),
    expect.stringMatching(/^!! +GET .*\/analytics\/usage .*: get_usage /),
    expect.stringMatching(/^! +get_current_account: .* is_active: expected boolean, found string;/),
    expect.stringMatching(/^! +list_agents: .* count: expected integer, found string;/),
    expect.stringMatching(/^! +list_agents: .* items\.\*\.name: expected string, found number;/),
    expect.stringMatching(
      /^! +list_agents: .* items\.\*\.tags\.\*: expected string, found number;/,
    ),
  ])
  expect(output).not.toContain('+12025550100')
})

test('what the platform says cannot control a terminal', async () => {
  const name = 'Evil\u001b[2J\u202e\nok       API key        Valid'
  await using platform = await startFakePlatform((_, res) => json(res, 200, { ...account, name }))
  const env = { ...settings(platform.url), VOICE_AGENT_STATE_DIR: ':memory:' }
  for (const flags of [[], ['--json']]) {
    await using program = startProgram(['doctor', ...flags], env)
    await program.exited
    expect(program.stdout()).toContain('Evil')
    for (const sign of ['\u001b', '\u202e']) expect(program.stdout()).not.toContain(sign)
    expect(program.stdout()).not.toMatch(/^ok +API key +Valid$/m)
  }
})

describe('the clock', () => {
  const behind = (ms: number) =>
    onlyAccount(() => ({ date: new Date(Date.now() - ms).toUTCString() }))

  test('that is off by an hour is red', async () => {
    const { code, red, check } = await answering(behind(3_600_000))
    expect({ code, red }).toEqual({ code: 1, red: ['clock'] })
    expect(check('clock').text).toMatch(/ 60 minutes ahead /)
  })

  test('that is off by a minute is yellow, and one that is right is green', async () => {
    expect((await answering(behind(-60_000))).check('clock')).toMatchObject({
      status: 'yellow',
      text: expect.stringMatching(/ 60 s behind /),
    })
    expect((await answering(behind(0))).check('clock').status).toBe('green')
  })
})

describe('over https', () => {
  const listening = (tls: { cert: string; key: string }) =>
    startFakePlatform(onlyAccount(), { tls })

  const port = (url: string) => Number(new URL(url).port)

  test('a certificate that nobody has signed is red, and the key is not sent', async () => {
    await using platform = await listening({ cert: certificate, key: certificateKey })
    const url = `https://localhost:${port(platform.url)}`
    const { code, red, check } = await examine(settings(url))
    expect({ code, red }).toEqual({ code: 1, red: ['tls'] })
    expect(check('tls')).toMatchObject({
      text: expect.stringMatching(/\([A-Z_]*(CERT|UNABLE)[A-Z_]*\)/),
      todo: expect.stringMatching(/NODE_EXTRA_CA_CERTS/),
    })
    expect(platform.seen).toEqual([])
  })

  test('plain http at the port is red', async () => {
    await using platform = await startFakePlatform(onlyAccount())
    const { red, check } = await examine(settings(platform.url.replace('http:', 'https:')))
    expect(red).toEqual(['tls'])
    expect(check('tls').todo).toMatch(/port/)
  })

  test('a proxy is used as by the client, and its password is not shown', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'ca.pem')
    writeFileSync(file, authority)
    await using platform = await listening(signed)
    await using proxy = await startConnectProxy(port(platform.url), { credentials: 'me:sesame' })
    const through = (credentials: string, more = {}) =>
      examine(
        settings('https://platform.example', {
          HTTPS_PROXY: `http://${credentials}${proxy.url.host}`,
          NODE_EXTRA_CA_CERTS: file,
          ...more,
        }),
      )
    const good = await through('me:sesame@')
    expect(good.red).toEqual([])
    expect(good.check('proxy').text).toContain(`${proxy.url.host} (HTTPS_PROXY)`)
    expect(good.check('dns').text).toMatch(/ platform\.example /)
    expect(good.check('tls')).toMatchObject({
      status: 'green',
      text: expect.stringMatching(/TLSv1\.\d.*Test CA.*2126/),
    })
    expect(good.output).not.toContain('sesame')

    const refused = await through('')
    expect(refused.red).toEqual(['proxy'])
    expect(refused.check('proxy')).toMatchObject({
      text: expect.stringMatching(/407/),
      todo: expect.stringMatching(/user:password@host/),
    })

    const away = await through('', { HTTPS_PROXY: `http://127.0.0.1:${await freePort()}` })
    expect(away.red).toEqual(['proxy'])
    expect(away.check('proxy').text).toContain('(ECONNREFUSED)')
  })

  test('a proxy that takes the connection and never makes one to the platform is red', async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined).resume()
    })
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port: silentPort } = silent.address() as AddressInfo
    const { red, check } = await examine(
      settings('https://platform.example', {
        HTTPS_PROXY: `http://127.0.0.1:${silentPort}`,
        VOICE_AGENT_HEADERS_TIMEOUT: '1',
      }),
    )
    for (const socket of sockets) socket.destroy()
    silent.close()
    expect(red).toEqual(['proxy'])
    expect(check('proxy').text).toMatch(/ [1-4](\.\d)? s\./)
  })

  test('a proxy that is not for https is mentioned where the platform is away', async () => {
    const { check } = await examine(
      settings('https://nowhere.invalid', { HTTP_PROXY: 'http://127.0.0.1:9' }),
    )
    expect(check('proxy')).toMatchObject({
      status: 'yellow',
      text: expect.stringMatching(/ HTTP_PROXY .* HTTPS_PROXY /),
    })
  })
})
