import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { connectHttp, connectStdio, type TestClient, ToolResult } from '../harness/client.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import { type Program, startHttpProgram, startProgram } from '../harness/program.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'
import { startTcpProxy, type TcpProxy } from '../harness/tcp-proxy.ts'
import { confirmedCalls } from '../state/confirm-across-servers.ts'

const secret = 's'.repeat(32)
let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

let platform: Awaited<ReturnType<typeof startRunningCallsPlatform>>
let network: TcpProxy
let program: Program & { url: string; metrics: string }
let client: TestClient

const settings = (url: string) => ({
  ...platform.env,
  VOICE_AGENT_STATE_URL: url,
  VOICE_AGENT_SECRET: secret,
  VOICE_AGENT_DIAL_POLICY: '{"max_per_day": 100}',
})

beforeEach(async () => {
  platform = await startRunningCallsPlatform({ answerMs: 300 })
  network = await startTcpProxy(server.port)
  const url = network.through(await server.newDatabase())
  const started = await startHttpProgram({ ...settings(url), VOICE_AGENT_METRICS_PORT: '0' })
  const [, metrics = ''] = await started.waitFor(/Metrics at (\S+)/)
  program = Object.assign(started, { metrics })
  client = await connectHttp('v2 2026-07-28', program.url)
})
afterEach(async () => {
  await client[Symbol.asyncDispose]()
  await program[Symbol.asyncDispose]()
  await network[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

const callTo = (to_number: string) => ({
  type: 'phone',
  agent_id: platform.agent.id,
  from_number: '+493023125000',
  to_number,
})
const place = (to: string) => client.call('place_call', callTo(to))
const errorOf = ({ _meta }: Awaited<ReturnType<typeof place>>) => _meta?.['voice-agent-mcp/error']
/** Error for the assistant. The `details` below are only for the operator. */
const away = { kind: 'state_unavailable', retryable: true, retryAfter: 10 }
const details = /ECONN|127\.0\.0\.1|state-url|STATE_URL|a-password|tester/
const textOf = ({ content }: Awaited<ReturnType<typeof place>>) =>
  content.map(({ text }) => text).join('\n')

test('while the database is away, reads succeed and calls are refused; calls succeed once it is back', async () => {
  expect((await place('+493023125001')).isError).toBeFalsy()
  network.cut()
  for (let nth = 0; nth < 3; nth++) {
    expect(await client.value('get_agent', { agent_id: platform.agent.id })).toMatchObject({
      id: platform.agent.id,
    })
    await client.value('list_calls')
    const refused = await place('+493023125002')
    expect(refused.isError).toBe(true)
    expect(errorOf(refused)).toMatchObject(away)
    expect(JSON.stringify(refused)).not.toMatch(details)
  }
  expect(platform.dialled).toHaveLength(1)
  expect(program.stderr()).toMatch(
    /--state-url \(VOICE_AGENT_STATE_URL\).* again .*\bplaced twice\b/,
  )
  const metrics = await (await fetch(program.metrics)).text()
  expect(metrics).toMatch(/^voice_agent_mcp_state_failures_total\{how="away"\} 3$/m)
  expect(metrics).toMatch(/tool_calls_total\{tool="place_call",outcome="state_unavailable"\} 3$/m)
  network.heal()
  expect((await place('+493023125002')).isError).toBeFalsy()
  expect(platform.dialled).toHaveLength(2)
  expect(program.stderr()).not.toContain('a-password')
})

test('while the database is away, actions that need confirmation are refused', async () => {
  const url = network.through(await server.newDatabase())
  await using asking = await startHttpProgram({ ...settings(url), VOICE_AGENT_CONFIRM: 'always' })
  const calls = confirmedCalls({ agentId: platform.agent.id, key: 'sk-0123456789' })
  const token = await calls.token(asking.url, '+493023125051')
  const state = await calls.question(asking.url, '+493023125052')
  network.cut()
  const refused = await calls.withToken(asking.url, '+493023125051', token)
  expect(errorOf(refused)).toMatchObject(away)
  expect(JSON.stringify(refused)).not.toMatch(details)
  const answered = await calls.answered(asking.url, '+493023125052', state)
  expect(errorOf(ToolResult.parse(answered.result))).toMatchObject(away)
  expect(platform.dialled).toHaveLength(0)
  network.heal()
  // Both the token and the person's answer are still valid.
  expect((await calls.withToken(asking.url, '+493023125051', token)).isError).toBeFalsy()
  expect((await calls.answered(asking.url, '+493023125052', state)).error).toBeUndefined()
  expect(platform.dialled).toHaveLength(2)
})

test('an unresponsive database delays no request for long', async () => {
  expect((await place('+493023125011')).isError).toBeFalsy()
  network.freeze()
  const began = performance.now()
  const placing = place('+493023125012')
  await client.value('get_agent', { agent_id: platform.agent.id })
  await client.value('list_calls')
  expect(performance.now() - began).toBeLessThan(5000)
  const refused = await placing
  expect(errorOf(refused)).toMatchObject(away)
  expect(JSON.stringify(refused)).not.toMatch(details)
  expect(performance.now() - began).toBeLessThan(30_000)
  expect(platform.dialled).toHaveLength(1)
  network.heal()
  expect((await place('+493023125012')).isError).toBeFalsy()
}, 60_000)

test('an unresponsive database delays no change, but the change cannot be undone', async () => {
  network.freeze()
  const began = performance.now()
  const changed = await client.call('update_agent', { agent_id: platform.agent.id, note: 'new' })
  expect(performance.now() - began).toBeLessThan(8000)
  network.heal()
  expect(platform.seen.filter(({ method }) => method === 'PATCH')).toHaveLength(1)
  expect(changed.structuredContent).toMatchObject({ no_undo: expect.any(String) })
})

test('with a slow database a call is answered in time, and the repeated request places it', async () => {
  // Opens all connections first, so that only the statements are slow.
  expect((await place('+493023125071')).isError).toBeFalsy()
  network.slow(2500)
  const began = performance.now()
  const refused = await place('+493023125072')
  expect(performance.now() - began).toBeLessThan(55_000)
  expect(errorOf(refused)).toMatchObject(away)
  expect(JSON.stringify(refused)).not.toMatch(details)
  expect(platform.dialled).toHaveLength(1)
  network.slow(0)
  await sleep(1000 * away.retryAfter)
  const placed = await place('+493023125072')
  expect(placed).toMatchObject({ structuredContent: { repeated: false } })
  expect(platform.dialled).toHaveLength(2)
}, 120_000)

test('over stdio and in the terminal errors have details, because the user runs the server', async () => {
  const url = network.through(await server.newDatabase())
  network.cut()
  await using local = await connectStdio('v2 2026-07-28', { env: settings(url) })
  const refused = await local.call('place_call', callTo('+493023125081'))
  expect(errorOf(refused)).toMatchObject(away)
  expect(textOf(refused)).toMatch(/--state-url \(VOICE_AGENT_STATE_URL\)/)
  const words = Object.entries(callTo('+493023125082')).flatMap(([name, value]) => [
    `--${name.replaceAll('_', '-')}`,
    value,
  ])
  await using terminal = startProgram(['call', 'place_call', ...words], settings(url))
  expect(await terminal.exited).toBe(1)
  expect(terminal.stdout() + terminal.stderr()).toMatch(/--state-url \(VOICE_AGENT_STATE_URL\)/)
  expect(platform.dialled).toHaveLength(0)
})

test('a batch that the loss of the database interrupts reports which calls were placed', async () => {
  const numbers = Array.from({ length: 8 }, (_, nth) => `+49302312509${nth}`)
  const { agent_id, from_number } = callTo('')
  const list = { agent_id, from_number, calls: numbers.map((to_number) => ({ to_number })) }
  const placing = client.call('place_calls', list)
  await expect.poll(() => platform.dialled.length, { timeout: 20_000, interval: 20 }).toBe(3)
  network.cut()
  const { structuredContent } = await placing
  expect(structuredContent).toMatchObject({ summary: { placed: 3, not_dialled: 5 } })
  expect(JSON.stringify(structuredContent)).not.toMatch(details)
  network.heal()
  const again = await client.call('place_calls', list)
  expect(again.structuredContent).toMatchObject({ summary: { repeated: 3, placed: 5 } })
  expect(platform.dialled).toHaveLength(8)
}, 60_000)

test('a server stops while the database does not answer', async () => {
  expect((await place('+493023125061')).isError).toBeFalsy()
  network.freeze()
  const began = performance.now()
  program.process.kill('SIGTERM')
  expect(await program.exited).toBe(0)
  expect(performance.now() - began).toBeLessThan(10_000)
})

test('a call whose outcome could not be recorded is reported, and not placed again', async () => {
  const placing = place('+493023125021')
  await expect.poll(() => platform.seen.some(({ method }) => method === 'POST')).toBe(true)
  network.cut()
  const placed = await placing
  expect(placed.isError).toBeFalsy()
  network.heal()
  expect((await place('+493023125021')).structuredContent).toMatchObject({ repeated: true })
  expect(platform.dialled).toHaveLength(1)
})

test('a restart of PostgreSQL interrupts calls only while it lasts', async () => {
  expect((await place('+493023125031')).isError).toBeFalsy()
  await server.stop()
  expect((await place('+493023125032')).isError).toBe(true)
  await client.value('get_agent', { agent_id: platform.agent.id })
  await server.start()
  expect((await place('+493023125032')).isError).toBeFalsy()
  // The journal still has the earlier call.
  expect((await place('+493023125031')).structuredContent).toMatchObject({ repeated: true })
  expect(platform.dialled).toHaveLength(2)
}, 60_000)

test('a server that starts without its database warns, serves reads, and places calls later', async () => {
  network.cut()
  const url = network.through(await server.newDatabase())
  await using early = await startHttpProgram(settings(url))
  expect(early.stderr()).toMatch(/--state-url \(VOICE_AGENT_STATE_URL\)/)
  await using reader = await connectHttp('v2 2026-07-28', early.url)
  await reader.value('get_agent', { agent_id: platform.agent.id })
  expect((await reader.call('place_call', callTo('+493023125041'))).isError).toBe(true)
  network.heal()
  await reader.value('place_call', callTo('+493023125041'))
  expect(platform.dialled).toHaveLength(1)
})

test.each([
  [
    'the password',
    (url: string) => url.replace('a-password', 'wrong-password'),
    /password authentication failed/,
  ],
  [
    'the name of the database',
    (url: string) => `${url}_none`,
    /database "test_\d+_none" does not exist/,
  ],
])('a mistake in %s stops the start, and no password is shown', async (_, spoil, message) => {
  const url = spoil(await server.newDatabase())
  await using wrong = startProgram(['http', '--port', '0'], settings(url))
  expect(await wrong.exited).toBe(1)
  expect(wrong.stderr()).toMatch(message)
  expect(wrong.stderr()).not.toMatch(/a-password|wrong-password/)
})

test.each([
  ['no secret', { VOICE_AGENT_SECRET: '' }, /--secret .* is empty|needs --secret/],
  [
    'another kind of address',
    { VOICE_AGENT_STATE_URL: 'mysql://u:a-password@h/d' },
    /\bPostgreSQL\b/,
  ],
  [
    'no database in the address',
    { VOICE_AGENT_STATE_URL: 'postgres://u:a-password@h' },
    /names no database/,
  ],
])('%s stops the start', async (_, env, message) => {
  const all = { ...settings('postgres://u:a-password@127.0.0.1/d'), ...env }
  const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
  await using wrong = startProgram(['http', '--port', '0'], given)
  expect(await wrong.exited).toBe(1)
  expect(wrong.stderr()).toMatch(message)
  expect(wrong.stderr()).not.toContain('a-password')
})
