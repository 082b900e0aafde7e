import { describe, expect, test } from 'vitest'
import { clientKinds, connectHttp } from '../../harness/client.ts'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { jsonLog, toolCallsIn } from '../../harness/json-log.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { type Program, quietly, startHttpProgram, startProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'

const inJson = { VOICE_AGENT_LOG: 'json' }
const noRequest = { requests: 0, retries: 0 }

/** Starts a server with JSON logs. */
async function startLogged(env: Record<string, string> = {}) {
  return startHttpProgram({ ...inJson, ...env })
}

/** Waits for `count` tool calls in the log, and returns their entries. */
async function logged(program: Program, count: number) {
  await expect.poll(() => toolCallsIn(program.stderr()).length).toBeGreaterThanOrEqual(count)
  return toolCallsIn(program.stderr())
}

describe('a tool call has one line in the log', () => {
  test.each(clientKinds)('over HTTP, from a client of %s, on both paths', async (kind) => {
    await using program = await startLogged()
    await using client = await connectHttp(kind, program.url, { 'x-api-key': 'sandbox-key' })
    await client.value('list_agents')
    await client.call('get_agent', { agent_id: 'no agent' })
    // Calls of a tool that may ask for confirmation go through the MCP SDK, not the fast path.
    await client.call('archive_agent', { agent_id: 'no agent' })
    await client.call('get_agent', {})
    const calls = await logged(program, 4)
    expect(calls).toMatchObject([
      { tool: 'list_agents', outcome: 'ok', platform: { retries: 0, status: 200 } },
      { tool: 'get_agent', outcome: 'rejected', platform: { retries: 0, status: 404 } },
      { tool: 'archive_agent', platform: { retries: 0 } },
      { tool: 'get_agent', outcome: 'bad_arguments', platform: noRequest },
    ])
    expect(calls).toHaveLength(4)
  })

  test('over stdio', async () => {
    await using program = startProgram(['--log', 'json'], {
      VOICE_AGENT_SANDBOX_DB: ':memory:',
      ...quietly,
    })
    const call = (name: string) => mcpHttpRequest('tools/call', { name, arguments: {} }).body
    program.process.stdin.end(
      `${call('list_agents')}\n${call('no_such_tool\n{"level":"error"}')}\n`,
    )
    expect(await program.exited).toBe(0)
    const calls = toolCallsIn(program.stderr())
    expect(calls).toHaveLength(2)
    expect(calls).toContainEqual({
      tool: 'list_agents',
      outcome: 'ok',
      platform: expect.objectContaining({ status: 200 }),
    })
    expect(calls).toContainEqual({
      tool: 'unknown',
      outcome: 'protocol_error',
      platform: noRequest,
    })
  })

  test('that says whether a question was asked', async () => {
    await using program = await startLogged({ VOICE_AGENT_CONFIRM: 'always' })
    const { result } = await rpc(program.url, 'tools/call', {
      name: 'list_agents',
      arguments: {},
    })
    const [agent] = (result.structuredContent as { items: { id: string }[] }).items
    const archive = { name: 'archive_agent', arguments: { agent_id: agent?.id } }
    await rpc(program.url, 'tools/call', archive)
    await rpc(program.url, 'tools/call', archive, { capabilities: { elicitation: {} } })
    const calls = await logged(program, 3)
    expect(calls.slice(1).map(({ outcome }) => outcome)).toEqual([
      'confirmation_needed',
      'input_required',
    ])
  })
})

test('the line has what the platform answered to the operation of the tool, and how often it was asked', async () => {
  await using platform = await startFakePlatform(
    (_, res, before) =>
      before === 0
        ? json(res, 503, envelope('unavailable'), { 'x-request-id': 'first' })
        : json(res, 404, envelope('not_found'), { 'x-request-id': 'req-2' }),
    { account: '00000000-0000-4000-8001-000000000001' },
  )
  await using program = await startLogged({ VOICE_AGENT_BASE_URL: platform.url })
  const agent_id = '00000000-0000-4000-8002-00000000abcd'
  await rpc(
    program.url,
    'tools/call',
    { name: 'get_agent', arguments: { agent_id } },
    { key: 'k'.repeat(40) },
  )
  const [call] = await logged(program, 1)
  expect(call).toMatchObject({
    tool: 'get_agent',
    outcome: 'rejected',
    platform: { retries: 1, status: 404, request_id: 'req-2' },
  })
})

test('an id of the platform that is not one is left out', async () => {
  await using platform = await startFakePlatform((_, res) =>
    json(res, 404, envelope('not_found'), { 'x-request-id': 'a"b {"level":"error"}' }),
  )
  await using program = await startLogged({ VOICE_AGENT_BASE_URL: platform.url })
  await rpc(program.url, 'tools/call', { name: 'list_agents', arguments: {} }, { key: 'some-key' })
  const [call] = await logged(program, 1)
  expect(call?.platform).not.toHaveProperty('request_id')
})

test('an HTTP request that is refused has a line, and a probe has none', async () => {
  await using program = await startLogged({ VOICE_AGENT_BASE_URL: 'http://127.0.0.1:1' })
  const { headers, body } = mcpHttpRequest('tools/list')
  const statuses = [
    await fetch(program.url, { method: 'POST', headers, body }),
    await fetch(program.url, { headers: { 'x-api-key': 'k'.repeat(20) } }),
    await fetch(new URL('/elsewhere', program.url)),
    await fetch(new URL('/readyz', program.url)),
  ].map(({ status }) => status)
  expect(statuses).toEqual([401, 405, 404, 503])
  const refused = () =>
    jsonLog(program.stderr())
      .filter(({ event }) => event === 'request_refused')
      .map(({ status }) => status)
  await expect.poll(refused).toEqual([401, 405, 404])
})

test('no key, argument or name of a client is in the log, in either form', async () => {
  const secret = 'sk-secret-0123456789abcdef'
  const words = ['private words', 'evil_tool', '+4915112345678', secret]
  for (const form of ['json', 'text']) {
    await using platform = await startFakePlatform((_, res) =>
      json(res, 422, envelope('invalid', `${secret} private words`), { 'x-request-id': secret }),
    )
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_LOG: form,
      VOICE_AGENT_LOG_LEVEL: 'info',
    })
    for (const name of ['get_agent', 'list_calls', 'evil_tool "}, {"level": "error"']) {
      const args = { agent_id: 'private words', phone_number: '+4915112345678', note: secret }
      await rpc(program.url, 'tools/call', { name, arguments: args }, { key: secret })
    }
    await program.waitFor(/unknown/)
    expect(words.filter((word) => program.stderr().includes(word))).toEqual([])
    expect(program.stderr()).toMatch(/get_agent/)
  }
})

test('the local token is not in a log for programs', async () => {
  const key = { VOICE_AGENT_API_KEY: 'k'.repeat(30), VOICE_AGENT_LOCAL_TOKEN: 'on' }
  await using platform = await startFakePlatform((_, res) => json(res, 404, envelope('not_found')))
  await using program = await startLogged({ ...key, VOICE_AGENT_BASE_URL: platform.url })
  await program.waitFor(/Serving MCP/)
  await rpc(program.url, 'tools/call', { name: 'list_agents', arguments: {} }, { key: 'other-key' })
  await logged(program, 1)
  expect(jsonLog(program.stderr()).length).toBeGreaterThan(2)
  expect(program.stderr()).not.toMatch(/voice-agent-mcp-local-|kkkkkk/)
})

test('by default there are lines of start and stop, and none of requests', async () => {
  await using program = await startHttpProgram()
  await rpc(program.url, 'tools/call', { name: 'list_agents', arguments: {} })
  program.process.kill('SIGTERM')
  expect(await program.exited).toBe(0)
  expect(program.stderr()).toMatch(/Serving MCP/)
  expect(program.stderr()).not.toMatch(/list_agents/)
})
