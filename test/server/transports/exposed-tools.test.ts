import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { seedIds } from '../../../src/sandbox/seed.ts'
import {
  type ClientKind,
  clientKinds,
  connectHttp,
  connectStdio,
  type TestClient,
} from '../../harness/client.ts'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { type Program, startHttpProgram, startProgram } from '../../harness/program.ts'

const listed = async (client: TestClient) => (await client.listTools()).map(({ name }) => name)

/** Runs a check over stdio, and over HTTP without headers that restrict the request. */
async function onBoth(
  kind: ClientKind,
  settings: { args?: string[]; env?: Record<string, string> },
  check: (client: TestClient) => Promise<void>,
): Promise<void> {
  await using stdio = await connectStdio(kind, settings)
  await check(stdio)
  await using program = await startHttpProgram(settings.env, settings.args)
  await using http = await connectHttp(kind, program.url)
  await check(http)
}

describe.each(clientKinds)('%s', (kind) => {
  test('sees and calls only what the operator exposes', async () => {
    const args = ['--toolsets', 'agents,phone-numbers', '--tools=get_usage', '--read-only']
    await onBoth(kind, { args }, async (client) => {
      expect(await listed(client)).toEqual([
        'list_agents',
        'get_agent',
        'list_phone_numbers',
        'get_phone_number',
        'get_usage',
      ])
      expect(client.instructions).toMatch(/\bread\b/)
      expect(client.instructions).not.toContain('create_agent')
      await expect(client.value('list_agents')).resolves.toHaveProperty('items')
      for (const [name, message] of [
        ['create_agent', /--read-only \(VOICE_AGENT_READ_ONLY\)/],
        ['get_call', /--toolsets \(VOICE_AGENT_TOOLSETS\).*--tools \(VOICE_AGENT_TOOLS\)/],
        ['get_agents', /\bget_agents\b.*\bget_agent\b/],
      ] as const) {
        const refused = expect(client.call(name)).rejects
        await refused.toMatchObject({ code: -32602, message: expect.stringMatching(message) })
      }
    })
  })

  test('acts on the pinned account, and cannot name another', async () => {
    await using platform = await startFakePlatform((_, res) =>
      json(res, 200, { count: 0, next: null, previous: null, items: [] }),
    )
    const env = {
      VOICE_AGENT_API_KEY: 'some-key',
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_ACCOUNT: 'acc-1',
    }
    await onBoth(kind, { env }, async (client) => {
      for (const { name, inputSchema } of await client.listTools()) {
        expect(inputSchema, String(name)).not.toHaveProperty('properties.account_id')
      }
      expect(client.instructions).toContain('acc-1')
      expect(client.instructions).not.toMatch(/account_id|subaccount/)

      platform.seen.length = 0
      for (const args of [{}, { account_id: 'acc-1' }, { account_id: null }]) {
        await client.value('list_agents', args)
      }
      const paths = platform.seen.map(({ url }) => url.split('?')[0])
      expect(paths).toEqual(Array(3).fill('/v1/accounts/acc-1/agents'))

      for (const account_id of ['acc-2', 'me', '../acc-2']) {
        const { isError, content } = await client.call('list_agents', { account_id })
        expect(isError).toBe(true)
        expect(content[0]?.text).toMatch(/account_id.*acc-1/)
      }
      expect(platform.seen).toHaveLength(3)
    })
  })

  test('works with the pinned account in the sandbox', async () => {
    const args = ['--account', seedIds.subaccount]
    await onBoth(kind, { args }, async (client) => {
      const numbers = await client.value('list_phone_numbers')
      await using whole = await connectStdio(kind)
      const own = await whole.value('list_phone_numbers', { account_id: seedIds.subaccount })
      expect(numbers.items).toEqual(own.items)
    })
  })
})

describe('headers of a request', () => {
  let program: Program & { url: string }
  beforeAll(async () => {
    program = await startHttpProgram({ VOICE_AGENT_EXCLUDE_TOOLS: 'place_call' })
  })
  afterAll(() => program[Symbol.asyncDispose]())

  test.each(clientKinds)('restrict what it sees and may call (%s)', async (kind) => {
    await using client = await connectHttp(kind, program.url, {
      'X-MCP-Toolsets': 'sip-trunks,usage',
      'X-MCP-Read-Only': 'true',
    })
    expect(await listed(client)).toEqual(['list_sip_trunks', 'get_sip_trunk', 'get_usage'])
    expect(client.instructions).toMatch(/\bread\b/)
    for (const [name, message] of [
      ['list_agents', 'X-MCP-Toolsets'],
      ['place_call', '--exclude-tools (VOICE_AGENT_EXCLUDE_TOOLS)'],
    ] as const) {
      await expect(client.call(name)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining(message),
      })
    }
    await expect(client.value('list_sip_trunks')).resolves.toHaveProperty('items')
  })

  test.each(clientKinds)('restrict no other request (%s)', async (kind) => {
    await using one = await connectHttp(kind, program.url, { 'X-MCP-Tools': 'get_usage' })
    await using other = await connectHttp(kind, program.url)
    const [narrow, whole] = await Promise.all([listed(one), listed(other)])
    expect(narrow).toEqual(['get_usage'])
    expect(whole).toContain('create_agent')
    expect(await listed(one)).toEqual(narrow)
  })

  test.each(clientKinds)('never add a tool (%s)', async (kind) => {
    await using strict = await startHttpProgram({}, ['--read-only', '--toolsets', 'agents'])
    await using client = await connectHttp(kind, strict.url, {
      'X-MCP-Read-Only': 'false',
      'X-MCP-Toolsets': 'agents,calls',
      'X-MCP-Tools': 'create_agent',
    })
    expect(await listed(client)).toEqual(['list_agents', 'get_agent'])
    await expect(client.call('create_agent')).rejects.toMatchObject({ code: -32602 })
  })

  const post = (headers: Record<string, string>) =>
    fetch(program.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })

  test.each([
    [
      { 'x-mcp-toolsets': 'call' },
      /^X-MCP-Toolsets: there is no toolset call\. Did you mean calls\?/,
    ],
    [{ 'x-mcp-tools': 'place_call' }, /--exclude-tools .*X-MCP-Tools\b/],
    [{ 'x-mcp-readonly': 'perhaps' }, /^X-MCP-Read-Only .*\btrue or false\b.*\bperhaps\b/],
  ])('%j is answered with 400 and the reason', async (headers, message) => {
    const response = await post(headers as Record<string, string>)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32000, message: expect.stringMatching(message) },
    })
    expect((await post({})).status).toBe(200)
  })

  test('lists that depend on them are private to a client', async () => {
    const response = await fetch(program.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/list',
        'x-mcp-tools': 'get_usage',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/list',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    const text = await response.text()
    expect(text).toContain('"cacheScope":"private"')
    expect(text).not.toContain('create_agent')
  })
})

test.each([
  [['--toolsets', 'call'], {}, /\bcall\b.*\bcalls\b/],
  [['http', '--tools', 'place_cal'], {}, /\bplace_cal\b.*\bplace_call\b/],
  [['--read-only', '--tools', 'place_call'], {}, /--read-only/],
  [[], { VOICE_AGENT_READ_ONLY: 'maybe' }, /VOICE_AGENT_READ_ONLY\) .*\btrue or false\b/],
])('%j %j ends the program with the reason', async (args, env, message) => {
  await using program = startProgram(args, env as Record<string, string>)
  expect(await program.exited).toBe(1)
  expect(program.stdout()).toBe('')
  expect(program.stderr()).toMatch(message)
  expect(program.stderr()).toMatch(/voice-agent-mcp\.js (http )?--help/)
})

test('the number of exposed tools is written to standard error', async () => {
  await using program = await startHttpProgram({}, ['--toolsets', 'usage', '--account', 'a1'])
  expect(program.stderr()).toMatch(/\ba1\b[\s\S]*\b1 of \d+ tools\b/)
})
