import { expect, test } from 'vitest'
import { clientMeta, mcpHttpRequest } from '../harness/mcp-request.ts'
import { scratchFolder, startHttpProgram } from '../harness/program.ts'
import { exchange } from '../harness/raw-http.ts'

const page = async (url: string, headers: Record<string, string> = {}, init: RequestInit = {}) => {
  const response = await fetch(url.replace(/\/mcp$/, '/'), {
    ...init,
    headers: { accept: 'text/html,*/*;q=0.8', ...headers },
  })
  return { status: response.status, headers: response.headers, body: await response.text() }
}

/**
 * Tones of the page's badges: real or sandbox, the platform, and the state if it is unavailable.
 */
const tonesIn = (body: string) => body.match(/(?<=class="badge" data-tone=")\w+/g)

const real = {
  VOICE_AGENT_BASE_URL: 'http://127.0.0.1:9',
  VOICE_AGENT_API_KEY: 'key-of-the-operator',
}

test('a browser that asks for the root is told what this is, and programs are not', async () => {
  await using program = await startHttpProgram()
  const { status, headers, body } = await page(program.url)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*script-src 'sha256-/)
  expect(body).toContain('(sandbox)')
  expect(tonesIn(body)).toEqual(['neutral'])
  expect(body).toContain(program.url)
  expect(body).toContain('data-access="none"')
  expect(body).not.toContain('YOUR-')

  const head = await page(program.url, {}, { method: 'HEAD' })
  expect([head.status, head.body]).toEqual([200, ''])
  expect((await page(program.url, { accept: 'application/json' })).status).toBe(404)
  expect((await page(program.url, {}, { method: 'POST' })).status).toBe(404)
})

test('a browser at the address of MCP is sent to the root, also behind a path prefix, and clients are not', async () => {
  await using program = await startHttpProgram()
  const open = async (accept: string, method = 'GET', url = program.url) => {
    const response = await fetch(url, { method, redirect: 'manual', headers: { accept } })
    return [response.status, response.headers.get('location')]
  }
  // The redirect is relative, because a proxy may serve /voice/mcp, whose root is /voice/.
  expect(await open('text/html,*/*;q=0.8')).toEqual([302, './'])
  expect(await open('text/html', 'HEAD')).toEqual([302, './'])
  expect(await open('text/html', 'GET', `${program.url}/`)).toEqual([302, '../'])
  for (const accept of ['text/html, text/event-stream', 'text/event-stream', '*/*'])
    expect(await open(accept), accept).toEqual([405, null])
  expect((await open('text/html', 'POST'))[1]).toBeNull()
})

/**
 * First request of a client with this name, by protocol method: `initialize` up to 2025-11-25,
 * `server/discover` since 2026-07-28.
 */
const connecting = {
  initialize: (name: string) => ({
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name, version: '1' },
      },
    }),
  }),
  'server/discover': (name: string) =>
    mcpHttpRequest('server/discover', {}, { meta: clientMeta({}, name) }),
}

test.each(['initialize', 'server/discover'] as const)(
  'the log says once which client has connected with %s, by a name of our list',
  async (method) => {
    await using program = await startHttpProgram()
    const connect = async (name: string) =>
      expect((await fetch(program.url, connecting[method](name))).status, name).toBe(200)
    for (const name of ['claude-code', 'cursor-vscode', 'Visual Studio Code - Insiders']) {
      await connect(name)
      await connect(name)
    }
    await connect('my\u001b[31m secret client')
    await connect('secret\r\nvoice-agent-mcp: Codex has connected.')
    await connect('secret'.padEnd(10_000, ' client'))
    await connect('')
    await connect('zed')
    await program.waitFor(/Zed has connected/)
    const logged = program.stderr().match(/^.* has connected.*$/gm)
    expect(
      logged?.map((line) => /^voice-agent-mcp: (.+) has connected\.$/.exec(line)?.[1]),
    ).toEqual([...['Claude Code', 'Cursor', 'VS Code Insiders', 'A client', 'Zed']])
    for (const part of ['secret', '\u001b']) expect(program.stderr()).not.toContain(part)
  },
)

test('it never shows a key or the local token, and says that the platform is not reachable', async () => {
  using folder = scratchFolder()
  await using program = await startHttpProgram({
    ...real,
    VOICE_AGENT_LOCAL_TOKEN: 'on',
    VOICE_AGENT_STATE_DIR: folder.path,
  })
  const [, token = ''] = await program.waitFor(/X-MCP-Local-Token: ([^"]+)"/)
  const { body } = await page(program.url)
  expect(body).not.toContain('(sandbox)')
  expect(tonesIn(body)).toEqual(['warning', 'danger'])
  expect(body).toContain('data-access="local_token"')
  expect(body).toContain('X-MCP-Local-Token: YOUR-LOCAL-TOKEN')
  expect(body).not.toContain(token)
  expect(body).not.toContain(real.VOICE_AGENT_API_KEY)
  expect(body).not.toContain(folder.path)
})

test('without the local token nothing has to be sent, and where requests bring keys, a key', async () => {
  await using open = await startHttpProgram(real)
  const { body: openPage } = await page(open.url)
  expect(openPage).toContain('data-access="none"')
  expect(openPage).not.toContain('YOUR-')
  await using keyed = await startHttpProgram({ VOICE_AGENT_BASE_URL: real.VOICE_AGENT_BASE_URL })
  const { body } = await page(keyed.url)
  expect(body).toContain('data-access="key"')
  expect(body).toContain('X-API-Key: YOUR-API-KEY')
})

test('it says when the state is not reachable', async () => {
  await using program = await startHttpProgram({
    ...real,
    VOICE_AGENT_STATE_URL: 'postgres://u:a-password@127.0.0.1:9/d',
    VOICE_AGENT_SECRET: 'a-secret-of-32-random-characters',
  })
  const { body } = await page(program.url)
  expect(tonesIn(body)).toEqual(['warning', 'danger', 'danger'])
  expect(body).not.toContain('a-password')
})

test('only the names of the server reach it', async () => {
  await using program = await startHttpProgram({}, ['--allowed-hosts', 'voice.example'])
  const withHost = (host: string) =>
    exchange(
      program.url,
      `GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\nConnection: close\r\n\r\n`,
    )
  expect(await withHost('voice.example:81')).toContain('http://voice.example:81/mcp')
  expect(await withHost('evil.example')).toMatch(/^HTTP\/1.1 403 /)
  expect(await withHost('voice.example/"><script>')).toMatch(/^HTTP\/1.1 40[03] /)
})

test('behind a proxy it shows the address that the browser has used', async () => {
  await using program = await startHttpProgram()
  const { host } = new URL(program.url)
  const shown = async (headers: Record<string, string>) =>
    /data-copy="the address"><code>([^<]+)</.exec((await page(program.url, headers)).body)?.[1]
  expect(await shown({ 'x-forwarded-proto': 'https', 'x-forwarded-prefix': '/voice/' })).toBe(
    `https://${host}/voice/mcp`,
  )
  for (const prefix of ['//evil.example', '/"><script>', 'javascript:', '/a b']) {
    expect(await shown({ 'x-forwarded-prefix': prefix })).toBe(program.url)
  }
})

test('with OAuth it shows the public address, whatever the request says', async () => {
  await using program = await startHttpProgram({}, [
    ...[
      '--oauth',
      '--public-url',
      'https://voice.example:8443',
      '--allowed-hosts',
      'voice.example',
    ],
  ])
  const { body } = await page(program.url, { 'x-forwarded-prefix': '/other' })
  expect(body).toContain('https://voice.example:8443/mcp')
  expect(body).toContain('data-access="oauth"')
  expect(body).not.toContain('YOUR-')
})

test.each([
  ['Windows NT 10.0', '%USERPROFILE%\\.cursor\\mcp.json'],
  ['Macintosh', '~/Library/Application Support/Code/User/mcp.json'],
  ['X11; Linux', '~/.config/Code/User/mcp.json'],
])('files are named as on %s', async (system, path) => {
  await using program = await startHttpProgram()
  expect((await page(program.url, { 'user-agent': `Mozilla/5.0 (${system})` })).body).toContain(
    path,
  )
})
