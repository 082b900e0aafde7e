import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { clientKinds, connectHttp } from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { scratchFolder, startHttpProgram, startProgram } from '../../harness/program.ts'

const header = 'X-MCP-Local-Token'
const ownKey = 'the-servers-own-key'

const Pasted = z.object({
  mcpServers: z.object({
    'voice-agents': z.object({
      type: z.literal('http'),
      url: z.string(),
      headers: z.record(z.string(), z.string()).optional(),
    }),
  }),
})

type HttpProgram = Awaited<ReturnType<typeof startHttpProgram>>

/** Headers and token in the client configuration that a server prints at its start. */
async function printed(program: HttpProgram) {
  const [, text = ''] = await program.waitFor(/Other clients: +(\{.*\})/)
  const { headers = {} } = Pasted.parse(JSON.parse(text)).mcpServers['voice-agents']
  return { headers, token: headers[header] ?? '' }
}

/** Starts a server with its own API key and the default token settings. */
const startOwn = (
  platform: { url: string },
  args: string[] = [],
  env: Record<string, string> = {},
): Promise<HttpProgram> =>
  startHttpProgram(
    {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: ownKey,
      VOICE_AGENT_LOCAL_TOKEN: '',
      ...env,
    },
    args,
  )

const whoAmI = mcpHttpRequest('tools/call', { name: 'get_current_account', arguments: {} })

/** Calls get_current_account with any headers, some of which `fetch` would not send. */
function ask(
  url: string,
  headers: Record<string, string | string[]>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = { ...whoAmI.headers, ...headers }
    const outgoing = request(url, { method: 'POST', headers: sent }, async (response) => {
      let text = ''
      for await (const chunk of response) text += chunk
      resolve({ status: response.statusCode ?? 0, text })
    })
    outgoing.on('error', reject).end(whoAmI.body)
  })
}

/** A platform that replies with the name of the key in the request. */
async function recordingPlatform() {
  const keys = new Set<unknown>()
  const platform = await startFakePlatform(({ headers }, response) => {
    const key = headers['x-api-key']
    keys.add(key)
    const whose = key === ownKey ? 'the server' : key === 'theirs' ? 'a client' : 'nobody'
    json(response, 200, { id: 'a1', name: `Account of ${whose}`, is_active: true })
  })
  return Object.assign(platform, { keys })
}

const local = `voice-agent-mcp-local-${'x'.repeat(43)}`

describe("the server's own key", () => {
  let platform: Awaited<ReturnType<typeof recordingPlatform>>
  let program: HttpProgram
  let token: string
  beforeAll(async () => {
    platform = await recordingPlatform()
    program = await startOwn(platform, ['--allowed-origins', 'app.example'])
    token = (await printed(program)).token
  })
  afterAll(async () => {
    await program[Symbol.asyncDispose]()
    await platform[Symbol.asyncDispose]()
  })

  test.each(clientKinds)('is used with the configuration that is printed (%s)', async (kind) => {
    const { headers } = await printed(program)
    expect(program.stderr()).toContain(`--header "${header}: ${token}"`)
    for (const sent of [headers, { Authorization: `Bearer ${token}` }]) {
      await using client = await connectHttp(kind, program.url, sent)
      expect((await client.value('get_current_account')).name).toBe('Account of the server')
    }
  })

  test.each(clientKinds)('is not used by a client without the token (%s)', async (kind) => {
    for (const sent of [{}, { [header]: local }]) {
      await expect(connectHttp(kind, program.url, sent)).rejects.toThrow()
    }
  })

  test('is refused without the token, and the error says where to find it and how to send it', async () => {
    const { status, text } = await ask(program.url, {})
    expect(status).toBe(401)
    expect(JSON.parse(text).error).toMatchSnapshot()
    expect(text).not.toContain(token)
  })

  test.each([
    ['another', { [header]: local }],
    ['an empty one', { [header]: '' }],
    ['a platform key in its place', { [header]: ownKey }],
    ['another as Bearer', { authorization: `Bearer ${local}` }],
    ['two, one of them wrong', (right: string) => ({ [header]: [right, local] })],
    [
      'the right one and a wrong Bearer',
      (right: string) => ({ [header]: right, authorization: `Bearer ${local}` }),
    ],
    ['the beginning of the right one', (right: string) => ({ [header]: right.slice(0, -1) })],
    ['more than the right one', (right: string) => ({ [header]: `${right}x` })],
    [
      'the right one in capitals',
      (right: string) => ({ authorization: `Bearer ${right.toUpperCase()}` }),
    ],
  ])('is refused with a wrong token: %s', async (_, headers) => {
    const sent = typeof headers === 'function' ? headers(token) : headers
    const { status, text } = await ask(program.url, sent)
    expect(status).toBe(401)
    // Wrong and missing tokens are refused with different messages.
    expect(text).not.toBe((await ask(program.url, {})).text)
    expect(text).not.toContain(token)
  })

  test('is not used for requests that a proxy passes on, with the token or without', async () => {
    for (const name of [
      'X-Forwarded-For',
      'x-forwarded-host',
      'X-Forwarded-Proto',
      'X-Real-IP',
      'Forwarded',
      'Via',
    ]) {
      for (const sent of [{}, { [header]: token }]) {
        const { status, text } = await ask(program.url, { ...sent, [name]: '127.0.0.1' })
        expect([name, status, text]).toEqual([
          name,
          401,
          expect.stringContaining(`header ${name.toLowerCase()}`),
        ])
      }
    }
    const { status, text } = await ask(program.url, {
      'X-Forwarded-For': '',
      'X-API-Key': 'theirs',
    })
    expect([status, text]).toEqual([200, expect.stringContaining('Account of a client')])
  })

  test('is not used for pages that are not allowed by name, with the token or without', async () => {
    for (const sent of [{}, { [header]: token }]) {
      for (const origin of ['http://localhost:6274', 'http://127.0.0.1:1', 'http://[::1]:5173']) {
        const { status, text } = await ask(program.url, { ...sent, origin })
        expect([origin, status, text]).toEqual([
          origin,
          403,
          expect.stringContaining('--allowed-origins'),
        ])
      }
    }
    const { origin: own } = new URL(program.url)
    for (const origin of ['https://app.example', own]) {
      expect((await ask(program.url, { origin })).status).toBe(401)
      expect((await ask(program.url, { origin, [header]: token })).status).toBe(200)
    }
    const withKey = { origin: 'http://localhost:6274', 'X-API-Key': 'theirs' }
    expect((await ask(program.url, withKey)).text).toContain('Account of a client')
  })

  test('allowed pages may send the header of the token', async () => {
    const response = await fetch(program.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-mcp-local-token',
      },
    })
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-headers')).toContain('x-mcp-local-token')
  })

  test('streams need the token, too', async () => {
    const listen = async (headers: Record<string, string>) => {
      const client = new Client(
        { name: 'test', version: '1' },
        { versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      const transport = new StreamableHTTPClientTransport(new URL(program.url), {
        requestInit: { headers },
      })
      try {
        await client.connect(transport)
        await client.listen({ resourceSubscriptions: ['voice-agents://catalog/models'] })
      } finally {
        await client.close()
      }
    }
    await listen({ [header]: token })
    const stream = mcpHttpRequest('subscriptions/listen', {
      notifications: { resourceSubscriptions: ['voice-agents://catalog/models'] },
    })
    const { status } = await fetch(program.url, stream)
    expect(status).toBe(401)
  })

  test('/health needs no token', async () => {
    const response = await fetch(new URL('/health', program.url), { headers: { via: '1.1 x' } })
    expect(response.status).toBe(200)
  })

  test('the token is never sent to the platform and never logged', async () => {
    const { status, text } = await ask(program.url, { 'X-API-Key': token })
    expect([status, text]).toEqual([400, expect.stringContaining(`Send it as ${header}`)])
    expect(text).not.toContain(token)
    for (const sent of [{ 'X-API-Key': `"${token}"` }, { authorization: `bearer "${token}"` }]) {
      expect((await ask(program.url, sent)).status).toBeGreaterThanOrEqual(400)
    }
    const both = { 'X-API-Key': 'theirs', authorization: `Bearer ${token}` }
    expect((await ask(program.url, both)).text).toContain('Account of a client')
    // A request that the SDK refuses, so that the server logs it.
    const odd = { 'mcp-protocol-version': '1999-01-01', [header]: token }
    expect((await ask(program.url, odd)).status).toBe(400)
    expect([...platform.keys].toSorted()).toEqual([ownKey, 'theirs'])
    const lines = program.stderr().split('\n')
    const withToken = lines.filter((line) => line.includes('voice-agent-mcp-local-'))
    expect(withToken).toEqual([
      expect.stringMatching(/^Claude Code: /),
      expect.stringMatching(/^Other clients: /),
    ])
  })
})

describe('the local token', () => {
  let platform: Awaited<ReturnType<typeof recordingPlatform>>
  beforeAll(async () => {
    platform = await recordingPlatform()
  })
  afterAll(() => platform[Symbol.asyncDispose]())

  const startIn = (folder: string) => startOwn(platform, [], { VOICE_AGENT_STATE_DIR: folder })

  test('is the same after a restart, for all servers of a state directory', async () => {
    using folder = scratchFolder()
    const path = join(folder.path, 'new', 'state')
    const tokens: string[] = []
    {
      // Started at the same time, so that neither finds a token file.
      const both = await Promise.all([startIn(path), startIn(path)])
      for (const program of both) {
        tokens.push((await printed(program)).token)
        await program[Symbol.asyncDispose]()
      }
    }
    await using program = await startIn(path)
    tokens.push((await printed(program)).token)
    const kept = readFileSync(join(path, 'local-token'), 'utf8')
    expect(tokens.map((token) => `${token}\n`)).toEqual([kept, kept, kept])
    expect(kept).toMatch(/^voice-agent-mcp-local-[\w-]{43}\n$/)
    expect(readdirSync(path)).toEqual(['local-token'])
    expect((await ask(program.url, { [header]: kept.trim() })).status).toBe(200)
    expect((await ask(program.url, {})).text).toMatch(/\blocal-token\b/)
    expect((await ask(program.url, {})).text).not.toContain(path)
  })

  test('is a new one in each run if nothing is stored', async () => {
    await using one = await startOwn(platform)
    await using other = await startOwn(platform)
    expect((await printed(one)).token).not.toBe((await printed(other)).token)
  })

  test('is created again when its file is deleted', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'local-token')
    const tokens: string[] = []
    for (let time = 0; time < 2; time++) {
      await using program = await startIn(folder.path)
      tokens.push((await printed(program)).token)
      rmSync(file)
    }
    expect(tokens[0]).not.toBe(tokens[1])
  })

  test('the server does not start if the token cannot be stored, and says why', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'file')
    writeFileSync(file, '')
    await using program = startProgram(['http', '--port', '0'], {
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_API_KEY: ownKey,
      VOICE_AGENT_STATE_DIR: join(file, 'state'),
    })
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/\/state\/local-token: \w+.*--state-dir.*--local-token off/)
    expect(program.stderr()).not.toMatch(/Serving MCP|\n +at /)
  })

  // Windows has no file modes: files inherit the permissions of their folder.
  describe.skipIf(process.platform === 'win32')('on disk', () => {
    test('is readable only by its user, in a folder that everybody may read, with any umask', async () => {
      using folder = scratchFolder()
      chmodSync(folder.path, 0o755)
      const umask = process.umask(0)
      try {
        await using program = await startIn(folder.path)
        await printed(program)
      } finally {
        process.umask(umask)
      }
      expect((statSync(join(folder.path, 'local-token')).mode & 0o777).toString(8)).toBe('600')
    })

    const wrongs: [string, (file: string) => void, RegExp][] = [
      ['others can read', (file) => chmodSync(file, 0o644), /local-token .*chmod 600/],
      [
        'belongs to another user',
        (file) => chownSync(file, 12_345, 12_345),
        /local-token (?!.*chmod).*--state-dir/,
      ],
      [
        'holds something else',
        (file) => writeFileSync(file, 'guess-me'),
        /local-token (?!.*--state-dir)/,
      ],
      ['is empty', (file) => writeFileSync(file, ''), /local-token (?!.*--state-dir)/],
    ]
    test.each(wrongs)(
      'is refused where its file %s, before anybody is served',
      async (why, spoil, expected) => {
        // Only root can change a file's owner.
        if (process.getuid?.() !== 0 && why === 'belongs to another user') return
        using folder = scratchFolder()
        const file = join(folder.path, 'local-token')
        writeFileSync(file, `${local}\n`, { mode: 0o600 })
        spoil(file)
        await using program = startProgram(['http', '--port', '0'], {
          VOICE_AGENT_BASE_URL: platform.url,
          VOICE_AGENT_API_KEY: ownKey,
          VOICE_AGENT_STATE_DIR: folder.path,
        })
        expect(await program.exited).toBe(1)
        expect(program.stderr()).toMatch(expected)
        expect(program.stderr()).not.toMatch(/guess-me|Serving MCP/)
      },
    )
  })

  test('is not needed with --local-token off; pages and proxies are still refused', async () => {
    await using program = await startOwn(platform, ['--local-token', 'off'])
    expect(await printed(program)).toEqual({ headers: {}, token: '' })
    expect(program.stderr()).toMatch(/VOICE_AGENT_API_KEY.*\(--local-token off\)/)
    for (const sent of [{}, { [header]: local }, { authorization: `Bearer ${local}` }]) {
      expect((await ask(program.url, sent)).text).toContain('Account of the server')
    }
    expect((await ask(program.url, { 'X-Forwarded-For': '192.0.2.1' })).status).toBe(401)
    expect((await ask(program.url, { origin: 'http://localhost:6274' })).status).toBe(403)
  })

  test('has no use where each request has its own key, and is not sent on as a key', async () => {
    await using program = await startOwn(platform, [], { VOICE_AGENT_API_KEY: '' })
    for (const sent of [{ authorization: `Bearer ${local}` }, { [header]: local }]) {
      const { status, text } = await ask(program.url, sent)
      expect([status, text]).toEqual([401, expect.stringContaining('X-API-Key')])
    }
    expect([...platform.keys]).not.toContain(local)
  })
})

test('the sandbox needs no token: neither clients, nor pages of this machine, nor proxies', async () => {
  using folder = scratchFolder()
  const state = join(folder.path, 'state')
  await using program = await startHttpProgram({
    VOICE_AGENT_LOCAL_TOKEN: '',
    VOICE_AGENT_STATE_DIR: state,
  })
  expect(await printed(program)).toEqual({ headers: {}, token: '' })
  for (const sent of [
    {},
    { origin: 'http://localhost:6274' },
    { 'x-forwarded-for': '192.0.2.1' },
    { [header]: local },
    { authorization: `Bearer ${local}` },
  ]) {
    const { status, text } = await ask(program.url, sent)
    expect([status, text]).toEqual([200, expect.stringContaining('Sandbox account')])
  }
  expect(existsSync(join(state, 'local-token'))).toBe(false)
})
