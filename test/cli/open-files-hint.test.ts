import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { crowd } from '../harness/hostile-client.ts'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { quietly, startInShell } from '../harness/program.ts'
import { rpc } from '../harness/rpc.ts'

const taker = join(import.meta.dirname, '../harness/exhaust-descriptors.ts')
const read = {
  name: 'get_subaccount',
  arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
}
const http = ['http', '--port', '0']

/** Starts the built program with at most 64 file descriptors (`ulimit -n`). */
const startFew = (args: string[], env: Record<string, string> = {}) =>
  startInShell('ulimit -n 64', args, { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...env }, [
    '--import',
    taker,
  ])

/** A platform that replies 200 to everything, and the settings for it. */
async function platformOfOne() {
  const platform = await startFakePlatform(
    (_, response) => json(response, 200, { id: 's1', name: 'There' }),
    { account: 'a1' },
  )
  const env = { VOICE_AGENT_BASE_URL: platform.url, VOICE_AGENT_API_KEY: 'some-key' }
  return Object.assign(platform, { env })
}

// `ulimit` needs a POSIX shell, and Windows delivers no signals.
describe.skipIf(process.platform === 'win32')('without file descriptors', () => {
  test.each([
    ['the program cannot start', http, { DESCRIPTORS_UNTIL: 'main-' }],
    ['the server cannot start', http, { DESCRIPTORS_UNTIL: 'http-' }],
  ])('%s, and says why in one line', async (_, args, env) => {
    await using program = startFew(args, env)
    expect(await program.exited).toBe(1)
    expect(program.stderr().trim().split('\n')).toHaveLength(1)
    expect(program.stderr()).toMatch(/EMFILE.*\(ulimit -n\)/)
  })

  test('a connection over stdio ends with the reason, so that the client can start the program again', async () => {
    await using program = startFew([], { DESCRIPTORS_UNTIL: 'service-' })
    program.process.stdin.write(`${mcpHttpRequest('tools/call', read).body}\n`)
    expect(await program.exited).toBe(1)
    expect(program.stderr()).toMatch(/EMFILE.*\(ulimit -n\)/)
  })

  test('for a moment, a server works again as soon as there are some', async () => {
    await using platform = await platformOfOne()
    await using program = startFew(http, platform.env)
    const [, url = ''] = await program.waitFor(/Serving MCP at (\S+)/)
    // Keeps a connection open for the next requests; no tool has run before.
    expect((await fetch(new URL('/health', url))).status).toBe(200)
    program.process.kill('SIGUSR2')
    await program.waitFor(/descriptors held: [1-9]/)
    const { result: failed } = await rpc(url, 'tools/call', read)
    expect(failed).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/\(EMFILE\)/) }],
    })
    program.process.kill('SIGUSR2')
    await program.waitFor(/descriptors held: 0/)
    const { result } = await rpc(url, 'tools/call', read)
    expect(result).toMatchObject({ structuredContent: { id: 's1' } })
  })

  test('for new connections, open connections are served, and new ones again later', async () => {
    await using platform = await platformOfOne()
    await using program = startFew(http, platform.env)
    const [, url = ''] = await program.waitFor(/Serving MCP at (\S+)/)
    using clients = await crowd(url, 100)
    const { sockets } = clients
    for (const socket of sockets) socket.resume()
    // The server closes connections over its limit.
    await expect.poll(() => sockets.some(({ closed }) => closed)).toBe(true)
    for (const socket of sockets) socket.destroy()
    await expect
      .poll(async () => (await rpc(url, 'tools/call', read).catch(() => undefined))?.result, {
        timeout: 10_000,
      })
      .toMatchObject({ structuredContent: { id: 's1' } })
  })
})
