import { describe, expect, test } from 'vitest'
import { crowd, heardOn, httpText } from '../../harness/hostile-client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { startHttpProgram } from '../../harness/program.ts'
import { rpc } from '../../harness/rpc.ts'
import { scarceMemory, usageOf } from '../../labs/measure/program.ts'

const list = httpText(mcpHttpRequest('tools/list'))
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Checks that ordinary requests of another client are answered. */
async function othersAreServed(url: string): Promise<void> {
  const { result } = await rpc(url, 'tools/call', { name: 'get_current_account', arguments: {} })
  expect(result).toMatchObject({ structuredContent: { name: 'Sandbox account' } })
  expect((await fetch(new URL('/health', url))).status).toBe(200)
}

// /proc reports memory on Linux only.
describe.skipIf(process.platform !== 'linux')('a client takes little memory', () => {
  test('with requests whose answers it does not read', async () => {
    await using program = await startHttpProgram(scarceMemory)
    using clients = await crowd(program.url, 62)
    const many = list.repeat(Math.ceil(66_000 / list.length))
    for (const socket of clients.sockets) socket.write(many)
    await othersAreServed(program.url)
    await pause(1500)
    await othersAreServed(program.url)
    expect(usageOf(program.process).peakMemory).toBeLessThan(400)
  })

  test('with large bodies that it does not finish', async () => {
    await using program = await startHttpProgram({
      ...scarceMemory,
      VOICE_AGENT_CLIENT_TIMEOUT: '3',
    })
    using clients = await crowd(program.url, 200)
    const begun = httpText(mcpHttpRequest('tools/list'), { length: 4 * 1024 * 1024 })
    const rest = Buffer.alloc(4 * 1024 * 1024 - 4096, ' ')
    for (const socket of clients.sockets) {
      socket.write(begun)
      socket.write(rest)
    }
    await pause(1000)
    await othersAreServed(program.url)
    expect(usageOf(program.process).peakMemory).toBeLessThan(400)
  })
})

test('requests that arrive together on one connection are all answered in order', async () => {
  await using program = await startHttpProgram()
  using clients = await crowd(program.url, 1)
  const [socket] = clients.sockets
  if (!socket) throw new Error('no connection')
  const ids = Array.from({ length: 300 }, (_, id) => id)
  const ask = { name: 'get_current_account', arguments: {} }
  socket.write(ids.map((id) => httpText(mcpHttpRequest('tools/call', ask, { id }))).join(''))
  const heard = await heardOn(socket, /"id":299\}/)
  expect([...heard.matchAll(/"id":(\d+)\}/g)].map(([, id]) => Number(id))).toEqual(ids)
})

test('the largest of too many large bodies is answered with 503', async () => {
  await using program = await startHttpProgram()
  using clients = await crowd(program.url, 40)
  const length = 1024 * 1024
  const begun = httpText(mcpHttpRequest('tools/list'), { length })
  const unfinished = begun + ' '.repeat(length - 1000)
  for (const socket of clients.sockets) socket.write(unfinished)
  const heard = await Promise.race(clients.sockets.map((socket) => heardOn(socket)))
  expect(heard).toMatch(/^HTTP\/1\.1 503 /)
  expect(heard).toMatch(/^retry-after: 1\r$/im)
  expect(heard).toMatch(/\b33554432\b/)
  await othersAreServed(program.url)
})

test('a body that does not arrive is answered with 408', async () => {
  await using program = await startHttpProgram({ VOICE_AGENT_CLIENT_TIMEOUT: '0.3' })
  using clients = await crowd(program.url, 1)
  const [socket] = clients.sockets
  if (!socket) throw new Error('no connection')
  socket.write(httpText(mcpHttpRequest('tools/list'), { length: 4000 }))
  const heard = await heardOn(socket)
  expect(heard).toMatch(/^HTTP\/1\.1 408 /)
  expect(heard).toMatch(/"message":".*\b0\.3 s\b/)
})

test('a client that does not read its answers loses the connection', async () => {
  await using program = await startHttpProgram({ VOICE_AGENT_CLIENT_TIMEOUT: '0.3' })
  using clients = await crowd(program.url, 1)
  const [socket] = clients.sockets
  if (!socket) throw new Error('no connection')
  // More than the socket buffers of the operating system hold.
  socket.write(list.repeat(200))
  await pause(3500)
  const heard = await heardOn(socket)
  expect(heard.split('HTTP/1.1 200').length).toBeLessThan(200)
})

test.each([
  ['nested too deeply', '['.repeat(201) + ']'.repeat(201), /\b200\b/],
  ['of too many values', `[${'{},'.repeat(100_001)}{}]`, /\b100000\b/],
])('a body %s is refused before it is parsed', async (_, body, message) => {
  await using program = await startHttpProgram()
  const response = await fetch(program.url, { ...mcpHttpRequest('tools/list'), body })
  expect(response.status).toBe(400)
  expect(await response.text()).toMatch(message)
})
