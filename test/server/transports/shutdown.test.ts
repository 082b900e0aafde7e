import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { json, startFakePlatform } from '../../harness/fake-platform.ts'
import { jsonLog } from '../../harness/json-log.ts'
import { clientMeta, mcpHttpRequest } from '../../harness/mcp-request.ts'
import { startHttpProgram, startPlatformProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'
import { seedIds, startSandbox } from '../../harness/sandbox.ts'

/** Duration of the platform's reply, ms: longer than an immediate stop would allow. */
const slowMs = 2600

/**
 * A platform that replies to the read of the account when `answer` is called, or after `ms`.
 * `asked` resolves when that request arrives.
 */
async function slowPlatform(ms?: number) {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const { promise: released, resolve: answer } = Promise.withResolvers<void>()
  const platform = await startFakePlatform(async (_, res) => {
    resolve()
    await (ms === undefined ? released : sleep(ms))
    json(res, 200, { id: 'me', name: 'Slow' })
  })
  return Object.assign(platform, { asked, answer })
}

/** A persistent connection. `send` resolves with the received text once that matches. */
async function openConnection({ hostname, port }: URL) {
  const socket = connect(Number(port), hostname)
  await once(socket, 'connect')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  return {
    async send(request: string, until: RegExp): Promise<string> {
      text = ''
      socket.write(request)
      await expect.poll(() => text).toMatch(until)
      return text
    },
    [Symbol.dispose]: () => socket.destroy(),
  }
}

const account = { name: 'get_current_account', arguments: {} }

/**
 * A sandbox that holds every change back until `answer` is called. `asked` resolves when the first
 * change arrives.
 */
async function sandboxThatHoldsChanges() {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const { promise: released, resolve: answer } = Promise.withResolvers<void>()
  const sandbox = startSandbox()
  const platform = await startFakePlatform(async ({ method, url, body }, response) => {
    if (method !== 'GET') {
      resolve()
      await released
    }
    const sent = body ? JSON.parse(body) : undefined
    const reply = await sandbox.send(method, url.slice('/v1/'.length), sent)
    json(response, reply.status, reply.body)
  })
  const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_CONFIRM: 'never' }
  const program = await startHttpProgram(env)
  return {
    sandbox,
    /** The result of a tool call during whose first change the program is told to stop. */
    async stopDuring(name: string, args: object) {
      const asking = mcpHttpRequest('tools/call', { name, arguments: args }, { key: 'a-key' })
      const answered = fetch(program.url, asking).then((response) => response.text())
      await asked
      program.process.kill('SIGTERM')
      await expect.poll(() => program.stderr()).toContain('Stopping.')
      answer()
      const { result } = JSON.parse(await answered)
      expect(await program.exited).toBe(0)
      return { result, text: result.content[0].text as string }
    },
    async [Symbol.asyncDispose]() {
      await program[Symbol.asyncDispose]()
      await platform[Symbol.asyncDispose]()
      sandbox[Symbol.dispose]()
    },
  }
}

describe('SIGTERM over HTTP', () => {
  test.each([
    ['by the fast path', clientMeta({})],
    // The SDK answers requests with a log level.
    ['by the SDK', { ...clientMeta({}), 'io.modelcontextprotocol/logLevel': 'error' }],
  ])(
    'waits for a request that is answered %s, tells how long, and exits with 0',
    async (_, meta) => {
      await using platform = await slowPlatform(slowMs)
      await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
      const asked = { ...mcpHttpRequest('tools/call', account, { meta, key: 'a-key' }) }
      const answer = fetch(program.url, asked).then((response) => response.text())
      await platform.asked
      program.process.kill('SIGTERM')
      expect(await answer).toContain('"name":"Slow"')
      expect(await program.exited).toBe(0)
      expect(program.stderr()).toMatch(/Stopping\.\n.* \d+ s\b/)
    },
  )

  test.each([
    ['update_agent', { agent_id: seedIds.supportAgent, note: 'Changed' }, /^Updated agent/],
    ['archive_agent', { agent_id: seedIds.supportAgent }, /^Archived agent/],
  ])('waits for the reply to %s', async (name, args, done) => {
    await using held = await sandboxThatHoldsChanges()
    expect((await held.stopDuring(name, args)).text).toMatch(done)
  })

  test('finishes the items of a bulk change that have begun, and reports the rest', async () => {
    await using held = await sandboxThatHoldsChanges()
    const agents = `accounts/${seedIds.account}/agents`
    const { body } = await held.sandbox.get(`${agents}/${seedIds.supportAgent}`)
    const { model, transcriber, voice } = body
    const agent_ids: string[] = []
    for (let at = 0; at < 12; at++) {
      const made = await held.sandbox.send('POST', agents, { model, transcriber, voice })
      agent_ids.push(made.body.id)
    }
    const { text } = await held.stopDuring('update_agent', { agent_ids, note: 'Changed' })
    expect(text).toContain('the server is stopping')
    const notes = agent_ids.map(async (id) => (await held.sandbox.get(`${agents}/${id}`)).body.note)
    // Eight items are worked on at the same time.
    expect((await Promise.all(notes)).filter((note) => note === 'Changed')).toHaveLength(8)
  })

  test('places the call of a list that has begun, and reports the rest', async () => {
    await using held = await sandboxThatHoldsChanges()
    const { result } = await held.stopDuring('place_calls', {
      agent_id: seedIds.supportAgent,
      from_number: '+12025550110',
      calls: [{ to_number: '+12025550106' }, { to_number: '+12025550107' }],
    })
    expect(result.structuredContent.calls).toMatchObject([
      { outcome: 'placed' },
      { outcome: 'not_dialled', problem: expect.stringContaining('the server is stopping') },
    ])
  })

  test('ends streams and waiting calls at once, with an answer', async () => {
    const logged = { VOICE_AGENT_SANDBOX_SPEED: '1', VOICE_AGENT_LOG: 'json' }
    await using platform = await startPlatformProgram(logged)
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const { result } = await rpc(program.url, 'tools/call', {
      name: 'place_call',
      arguments: {
        type: 'phone',
        agent_id: seedIds.supportAgent,
        from_number: '+12025550110',
        to_number: '+12025550106',
      },
    })
    const { id: call_id } = result.structuredContent as { id: string }
    const params = { name: 'wait_for_call', arguments: { call_id, timeout_seconds: 55 } }
    const wait = async (meta: object) => {
      const asked = mcpHttpRequest('tools/call', params, { key: 'sandbox-key', meta })
      return (await fetch(program.url, asked)).text()
    }
    // The SDK answers requests with a progress token.
    const waits = [wait(clientMeta({})), wait({ ...clientMeta({}), progressToken: 1 })]
    const notifications = { resourceSubscriptions: ['voice-agents://account'] }
    const stream = await fetch(
      program.url,
      mcpHttpRequest('subscriptions/listen', { notifications }, { key: 'sandbox-key' }),
    )
    // Waits until both waits have read the call, whose last known state they return.
    await platform.waitFor(new RegExp(`/calls/${call_id} 200`))
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const began = Date.now()
    program.process.kill('SIGTERM')
    for (const resultText of await Promise.all(waits)) {
      expect(resultText).toMatch(new RegExp(`wait_for_call.*${call_id}`))
    }
    expect(await stream.text()).toMatch(/"result":/)
    expect(await program.exited).toBe(0)
    expect(Date.now() - began).toBeLessThan(20_000)
  })

  test('refuses further requests meanwhile, on old and new connections, and answers probes', async () => {
    await using platform = await slowPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_LOG: 'json',
    })
    using old = await openConnection(new URL(program.url))
    await old.send('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n', /"status":"ok"}/)
    const asked = mcpHttpRequest('tools/call', account, { key: 'a-key' })
    const answer = fetch(program.url, asked).then((response) => response.text())
    await platform.asked
    program.process.kill('SIGTERM')
    await program.waitFor(/Stopping/)
    const probe = async (path: string) => {
      const response = await fetch(new URL(path, program.url))
      return [response.status, await response.json()]
    }
    expect(await probe('/readyz')).toEqual([503, { status: 'stopping' }])
    expect(await probe('/healthz')).toEqual([200, { status: 'ok' }])
    const refused = await old.send(
      'POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}',
      /stopping/,
    )
    expect(refused).toMatch(/^HTTP\/1.1 503 /)
    expect(refused).toMatch(/^retry-after: \d+\r$/im)
    expect(refused).toMatch(/^connection: close\r$/im)
    const late = await fetch(program.url, asked)
    expect([late.status, late.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await late.json()).toMatchObject({ id: null, error: { code: -32000 } })
    platform.answer()
    expect(await answer).toContain('"name":"Slow"')
    expect(await program.exited).toBe(0)
    const statuses = jsonLog(program.stderr()).flatMap(({ event, status }) =>
      event === 'request_refused' ? [status] : [],
    )
    expect(statuses).toEqual([503, 503])
  })

  test('ends requests that take longer than --drain', async () => {
    // The platform never answers.
    await using platform = await slowPlatform()
    await using program = await startHttpProgram({
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_HEADERS_TIMEOUT: '600',
      VOICE_AGENT_TIMEOUT: '600',
      VOICE_AGENT_DRAIN: '1',
    })
    const asked = mcpHttpRequest('tools/call', account, { key: 'a-key' })
    const answer = fetch(program.url, asked).then(
      () => 'answered',
      () => 'cut',
    )
    await platform.asked
    const began = Date.now()
    program.process.kill('SIGTERM')
    expect(await answer).toBe('cut')
    expect(await program.exited).toBe(0)
    // The default is 60 s.
    expect(Date.now() - began).toBeLessThan(30_000)
  })

  test('works while the most expensive templates are checked', async () => {
    await using program = await startHttpProgram()
    const template = '{% for a in b %}{{ loop.index }}{% endfor %}'.repeat(4000)
    const params = { name: 'validate_agent_template', arguments: { template } }
    const asked = { ...mcpHttpRequest('tools/call', params) }
    const first = await fetch(program.url, asked).then((response) => response.text())
    expect(first).toContain('"valid":true')
    const answers = Array.from({ length: 20 }, () =>
      fetch(program.url, asked).then(
        (response) => response.text(),
        () => 'cut',
      ),
    )
    await Promise.race(answers)
    program.process.kill('SIGTERM')
    await program.waitFor(/Stopping/)
    expect(await program.exited).toBe(0)
    // Requests that arrived are answered; later connections may be refused.
    expect(new Set(await Promise.all(answers))).toContain(first)
  })

  test('a second signal ends the process at once', async () => {
    await using platform = await slowPlatform(8000)
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const answer = fetch(
      program.url,
      mcpHttpRequest('tools/call', account, { key: 'a-key' }),
    ).catch(() => 'cut')
    await platform.asked
    program.process.kill('SIGTERM')
    await program.waitFor(/Stopping/)
    program.process.kill('SIGTERM')
    expect(await program.exited).toBe(143)
    expect(await answer).toBe('cut')
  })
})
