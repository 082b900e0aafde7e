import { expect, test } from 'vitest'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { quietly, startProgram } from '../../harness/program.ts'
import { seedIds } from '../../harness/sandbox.ts'
import { scarceMemory, usageOf } from '../../labs/measure/program.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
const start = () =>
  startProgram([], { VOICE_AGENT_SANDBOX_DB: ':memory:', ...quietly, ...scarceMemory })
const line = (method: string, id: number, params: Record<string, unknown> = {}) =>
  `${mcpHttpRequest(method, params, { id }).body}\n`
const own = { name: 'get_current_account', arguments: {} }

const initialize = JSON.stringify({
  jsonrpc: '2.0',
  id: 'hello',
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  },
})
const listOf2025 = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"tools/list"}\n`

/** Ids of all answers, in order. */
const idsOf = (stdout: string) =>
  [...stdout.matchAll(/"id":(\d+)[,}]/g)].map(([, id]) => Number(id))

// /proc reports memory on Linux only.
test.skipIf(process.platform !== 'linux').each<[string, string, (id: number) => string]>([
  ['by the handshake', `${initialize}\n`, listOf2025],
  ['by the server', line('tools/call', 9999, own), (id) => line('tools/list', id)],
])(
  'a client that does not read takes little memory, answered %s',
  async (_, first, ask) => {
    await using program = start()
    const { stdin, stdout } = program.process
    stdin.write(first)
    await expect.poll(program.stdout, { timeout: 10_000 }).toMatch(/\n/)
    stdout.removeAllListeners('data').pause()
    // The test may end the program during this write.
    stdin.on('error', () => undefined)
    const count = 5000
    stdin.write(Array.from({ length: count }, (_, id) => ask(id)).join(''))
    await pause(2500)
    expect(usageOf(program.process).peakMemory).toBeLessThan(300)
    // Once the client reads again, it gets all answers.
    let lines = 0
    for await (const chunk of stdout) {
      lines += String(chunk).split('\n').length - 1
      if (lines >= count) break
    }
    expect(lines).toBe(count)
  },
  60_000,
)

test('more requests than are served at once are all answered until the input ends', async () => {
  await using program = start()
  const calls = Array.from({ length: 1000 }, (_, id) => line('tools/call', id, own))
  program.process.stdin.end(calls.join(''))
  expect(await program.exited).toBe(0)
  expect(idsOf(program.stdout()).toSorted((a, b) => a - b)).toEqual([...calls.keys()])
})

test('the client can answer a question however many requests it has sent before', async () => {
  await using program = startProgram([], {
    VOICE_AGENT_SANDBOX_DB: ':memory:',
    VOICE_AGENT_STATE_DIR: ':memory:',
  })
  const { stdin } = program.process
  const archive = (id: number) =>
    `${JSON.stringify({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'archive_agent', arguments: { agent_id: seedIds.supportAgent } },
    })}\n`
  stdin.write(`${initialize.replace('"capabilities":{}', '"capabilities":{"elicitation":{}}')}\n`)
  stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
  stdin.write(archive(0))
  const asked = /"method":"elicitation\/create"/g
  const count = (pattern: RegExp) => [...program.stdout().matchAll(pattern)].length
  await expect.poll(() => count(asked), { timeout: 10_000 }).toBe(1)
  stdin.write(Array.from({ length: 300 }, (_, index) => archive(index + 1)).join(''))
  await expect.poll(() => count(asked), { timeout: 10_000 }).toBe(256)
  await expect.poll(() => count(/"code":-32000,"message":"[^"]*\b256\b/g)).toBe(45)
  stdin.write('{"jsonrpc":"2.0","id":0,"result":{"action":"decline"}}\n')
  await expect
    .poll(program.stdout, { timeout: 10_000 })
    .toMatch(/"id":0,?[^\n]*declined|declined[^\n]*"id":0\b/i)
})
