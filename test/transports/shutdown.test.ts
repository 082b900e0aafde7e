import { describe, expect, test } from 'vitest'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { clientMeta, mcpHttpRequest } from '../harness/mcp-request.ts'
import { startHttpProgram, startPlatformProgram } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'
import { seedIds } from '../harness/sandbox.ts'

/** Longer than a stop took before it cut what was under way, ms. */
const slowMs = 2600

/** A platform whose answer about the account takes long; `asked` resolves when that is asked for. */
async function slowPlatform(ms: number) {
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  const platform = await startFakePlatform((_, res) => {
    resolve()
    setTimeout(() => json(res, 200, { id: 'me', name: 'Slow' }), ms)
  })
  return Object.assign(platform, { asked })
}

const account = { name: 'get_current_account', arguments: {} }

describe('SIGTERM over HTTP', () => {
  test.each([
    ['by the fast path', clientMeta({})],
    // With this the SDK answers.
    ['by the SDK', { ...clientMeta({}), 'io.modelcontextprotocol/logLevel': 'error' }],
  ])('waits for a request that is answered %s, and exits with 0', async (_, meta) => {
    await using platform = await slowPlatform(slowMs)
    await using program = await startHttpProgram({ VOICE_AGENT_BASE_URL: platform.url })
    const asked = { ...mcpHttpRequest('tools/call', account, { meta, key: 'a-key' }) }
    const answer = fetch(program.url, asked).then((response) => response.text())
    await platform.asked
    program.process.kill('SIGTERM')
    expect(await answer).toContain('"name":"Slow"')
    expect(await program.exited).toBe(0)
  })

  test('ends streams and waiting calls at once, with an answer', async () => {
    await using platform = await startPlatformProgram({ VOICE_AGENT_SANDBOX_SPEED: '1' })
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
    // A request with a progress token is answered by the SDK.
    const waits = [wait(clientMeta({})), wait({ ...clientMeta({}), progressToken: 1 })]
    const notifications = { resourceSubscriptions: ['voice-agents://account'] }
    const stream = await fetch(
      program.url,
      mcpHttpRequest('subscriptions/listen', { notifications }, { key: 'sandbox-key' }),
    )
    // The waits report the state of the call that they know.
    await new Promise((resolve) => setTimeout(resolve, 1500))
    const began = Date.now()
    program.process.kill('SIGTERM')
    for (const resultText of await Promise.all(waits)) {
      expect(resultText).toContain(`Wait on with wait_for_call, call_id ${call_id}`)
    }
    expect(await stream.text()).toMatch(/"result":/)
    expect(await program.exited).toBe(0)
    expect(Date.now() - began).toBeLessThan(20_000)
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
    // Received requests are answered; other connections may have been refused.
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
