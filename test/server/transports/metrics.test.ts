import { describe, expect, test } from 'vitest'
import { envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'
import { startHttpProgram } from '../../harness/program.ts'
import { samplesIn } from '../../harness/prometheus.ts'
import { exchange } from '../../harness/raw-http.ts'
import { rpc } from '../../harness/rpc.ts'

/** Starts a server with metrics. Returns the URL of its metrics, too. */
async function startMeasured(env: Record<string, string> = {}, args: string[] = []) {
  const program = await startHttpProgram(env, ['--metrics-port', '0', ...args])
  const [, metrics = ''] = await program.waitFor(/Metrics at (\S+)/)
  return Object.assign(program, { metrics })
}

const samplesOf = async (url: string) => samplesIn(await (await fetch(url)).text())

const callTool = (url: string, name: string, args: object = {}, key?: string) =>
  rpc(url, 'tools/call', { name, arguments: args }, key === undefined ? {} : { key })

describe('/metrics', () => {
  test('counts tool calls, requests to the platform, reads of kept replies and refusals', async () => {
    await using program = await startMeasured()
    for (let time = 0; time < 3; time++) await callTool(program.url, 'list_agents')
    await callTool(program.url, 'get_agent', {})
    await callTool(program.url, 'no_such_tool')
    await fetch(program.url)
    for (let time = 0; time < 2; time++)
      await rpc(program.url, 'resources/read', { uri: 'voice-agents://catalog/models' })
    const samples = await samplesOf(program.metrics)
    const expected = {
      'tool_calls_total{tool="list_agents",outcome="ok"}': 3,
      'tool_calls_total{tool="get_agent",outcome="bad_arguments"}': 1,
      'tool_calls_total{tool="unknown",outcome="protocol_error"}': 1,
      'tool_call_duration_seconds_count{tool="list_agents"}': 3,
      'tool_calls_in_flight{tool="list_agents"}': 0,
      'platform_requests_total{operation="agents.list",result="2xx"}': 3,
      'http_requests_refused_total{status="405"}': 1,
      'platform_requests_total{operation="providers.models",result="2xx"}': 1,
    }
    const found = Object.keys(expected).map((name) => [
      name,
      samples.get(`voice_agent_mcp_${name}`),
    ])
    expect(Object.fromEntries(found)).toEqual(expected)
    expect(samples.get('voice_agent_mcp_cache_reads_total{result="hit"}')).toBeGreaterThan(0)
    expect(samples.get('process_resident_memory_bytes')).toBeGreaterThan(2 ** 24)
  })

  test('counts failures and retries of the platform', async () => {
    await using platform = await startFakePlatform(
      (_, res, before) =>
        before === 0 ? json(res, 503, envelope('busy')) : json(res, 200, 'not an agent list'),
      { account: '00000000-0000-4000-8001-000000000001' },
    )
    await using program = await startMeasured({ VOICE_AGENT_BASE_URL: platform.url })
    await callTool(program.url, 'list_agents', {}, 'some-api-key')
    const samples = await samplesOf(program.metrics)
    const of = (name: string) => samples.get(`voice_agent_mcp_platform_${name}`)
    expect(of('requests_total{operation="agents.list",result="5xx"}')).toBe(1)
    expect(of('requests_total{operation="agents.list",result="unreadable"}')).toBe(1)
    expect(of('retries_total{operation="agents.list"}')).toBe(1)
  })

  test('counts calls that the dial policy allows and refuses', async () => {
    await using program = await startMeasured({
      VOICE_AGENT_DIAL_POLICY: JSON.stringify({ max_total: 1 }),
    })
    const { result } = await callTool(program.url, 'list_agents')
    const [agent] = (result.structuredContent as { items: { id: string }[] }).items
    for (const external_id of ['first', 'second'])
      await callTool(program.url, 'place_call', { agent_id: agent?.id, type: 'web', external_id })
    const samples = await samplesOf(program.metrics)
    const dials = [...samples].filter(([name]) => name.includes('dial_decisions'))
    expect(Object.fromEntries(dials)).toEqual({
      'voice_agent_mcp_dial_decisions_total{result="allowed",rule=""}': 1,
      'voice_agent_mcp_dial_decisions_total{result="refused",rule="max_total"}': 1,
    })
  })

  test('holds no key and no text of a client, and stays small whatever clients send', async () => {
    const key = 'sk-secret-0123456789abcdef'
    await using platform = await startFakePlatform((_, res, before) =>
      json(res, 400 + (before % 100), envelope(`code_${before}`, key)),
    )
    await using program = await startMeasured({ VOICE_AGENT_BASE_URL: platform.url })
    const send = async (time: number) => {
      await callTool(program.url, `evil_tool_${time}`, {}, key)
      await callTool(program.url, 'update_agent', { agent_id: `evil_agent_${time}` }, key)
    }
    await send(0)
    await send(1)
    const before = await samplesOf(program.metrics)
    for (let time = 2; time < 60; time++) await send(time)
    const text = await (await fetch(program.metrics)).text()
    expect(text).not.toMatch(/evil|secret|code_/)
    expect(samplesIn(text).size).toBeLessThan(before.size + 20)
  })

  test('is at no other address, and not on the port of clients', async () => {
    await using program = await startMeasured()
    const statusOf = async (url: URL, init: RequestInit = {}) => (await fetch(url, init)).status
    expect(await statusOf(new URL('/metrics', program.url))).toBe(404)
    expect(await statusOf(new URL('/', program.metrics))).toBe(404)
    expect(await statusOf(new URL(program.metrics), { method: 'POST' })).toBe(405)
    expect((await fetch(program.metrics)).headers.get('content-type')).toBe(
      'text/plain; version=0.0.4; charset=utf-8',
    )
  })

  test('is on loopback unless it is told otherwise, and refuses other names there', async () => {
    await using program = await startMeasured({}, ['--host', '0.0.0.0', '--allowed-hosts', '*'])
    expect(program.metrics).toMatch(/^http:\/\/127\.0\.0\.1:/)
    const answer = await exchange(
      program.metrics,
      'GET /metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    )
    expect(answer).toMatch(/^HTTP\/1\.1 403/)
    await using open = await startMeasured({}, ['--metrics-host', '0.0.0.0'])
    expect((await fetch(open.metrics)).status).toBe(200)
  })

  test('is not there without its setting', async () => {
    await using program = await startHttpProgram()
    expect(program.stderr()).not.toMatch(/Metrics/)
  })

  test('names its own setting when its port is taken', async () => {
    await using first = await startMeasured()
    const { port } = new URL(first.metrics)
    await expect(startHttpProgram({}, ['--metrics-port', port])).rejects.toThrow(/--metrics-port/)
  })
})
