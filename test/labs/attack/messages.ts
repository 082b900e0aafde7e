import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { seedIds } from '../../../src/sandbox/seed.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { StdioClient } from '../measure/clients.ts'
import { concurrently } from '../measure/concurrency.ts'
import type { Scenario } from './attack.ts'

const requests = 8_000

export const unreadStdio: Scenario = {
  name: 'unread-stdio',
  point: 'A client over stdio requests the list of tools 8,000 times and reads no response.',
  guarantee: 'The program uses at most 512 MB, and answers all requests once the client reads.',
  async run(attack) {
    const program = attack.start({ isMemoryScarce: true })
    const { stdin, stdout } = program.process
    // Until the first tool call, another part of the program answers: the stdio handshake.
    const own = { name: 'get_current_account', arguments: {} }
    const answered = new Promise((resolve) => stdout.once('data', resolve))
    stdin.write(`${mcpHttpRequest('tools/call', own).body}\n`)
    await answered
    stdout.removeAllListeners('data').pause()
    stdin.end(`${mcpHttpRequest('tools/list').body}\n`.repeat(requests))
    await sleep(3000)
    let answers = 0
    stdout.on('data', (chunk: Buffer) => {
      for (const byte of chunk) if (byte === newline) answers++
    })
    stdout.resume()
    assert.equal(await program.exited, 0, `The program ended with ${program.process.signalCode}`)
    assert.equal(answers, requests)
    return { answers }
  },
}

const newline = 10

const calls = 20_000
const concurrency = 50

/** Heap limit, MB. About 20 are in use, so storing 1 kB per message would exceed the limit. */
const heap = 36

export const steadyMemory: Scenario = {
  name: 'steady-memory',
  point: 'One client over stdio sends 20,000 messages to a program with a heap of 36 MB.',
  guarantee:
    'The program keeps nothing of a message after its answer, so that it can answer all messages.',
  async run(attack) {
    const program = attack.start({
      isMemoryScarce: true,
      nodeOptions: [`--max-old-space-size=${heap}`],
    })
    const client = new StdioClient(program)
    // The program ignores `padding`, which makes a stored message longer than 1 kB.
    const asked = { name: 'get_current_account', arguments: {}, padding: 'x'.repeat(1000) }
    for (let done = 0; done < calls; done += concurrency) {
      await concurrently(concurrency, () => client.request('tools/call', asked))
    }
    program.process.stdin.end()
    assert.equal(await program.exited, 0)
    return { calls }
  },
}

/** Fewer values than the limit, so that only the depth can be refused. */
const levels = 9000
const deep = `${'['.repeat(levels)}${']'.repeat(levels)}`
const deepObjects = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`

/** Messages with the nested value in different positions. */
const messages = [
  (nested: string) => nested,
  (nested: string) => `{"jsonrpc":"2.0","id":"nested","method":"ping","params":{"x":${nested}}}`,
  (nested: string) =>
    mcpHttpRequest(
      'tools/call',
      { name: 'create_agent', arguments: { metadata: 0 } },
      { id: 0 },
    ).body.replace('"metadata":0', `"metadata":${nested}`),
  (nested: string) => `{"jsonrpc":"2.0","id":"nested","result":${nested}}`,
]
const bodies = messages.flatMap((message) => [deep, deepObjects].map(message))

export const nestedJson: Scenario = {
  name: 'nested-json',
  point:
    'Messages and bodies have 9,000 levels of nesting, over HTTP, over stdio and to the sandbox.',
  guarantee:
    'Each is refused as an error of the client (4xx), never as an error of the server (500).',
  async run(attack) {
    const server = await attack.serve()
    const sandbox = await attack.sandbox()
    const key = { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' }
    const { headers } = mcpHttpRequest('tools/call', { name: 'create_agent' })
    const agents = `${sandbox.url}/v1/accounts/me/agents`
    const statuses = new Set<number>()
    for (const body of bodies) {
      const toMcp = await fetch(server.url, { method: 'POST', headers, body })
      const text = await toMcp.text()
      // A tool result that refuses the arguments: the request itself was understood.
      if (toMcp.status === 200)
        assert.match(text, /bad_arguments[\s\S]*"isError":true|"isError":true[\s\S]*bad_arguments/)
      const toRest = await fetch(agents, { method: 'POST', headers: key, body })
      await toRest.text()
      statuses.add(toMcp.status).add(toRest.status)
    }
    // An agent's own data may have any value, so only its depth can be refused.
    for (const nested of [deep, deepObjects]) {
      const body = `{"metadata":{"a":${nested}}}`
      const changed = await fetch(`${agents}/${seedIds.supportAgent}`, {
        method: 'PATCH',
        headers: key,
        body,
      })
      await changed.text()
      assert.ok(changed.status >= 400, 'The sandbox has stored the nested value')
      statuses.add(changed.status)
    }
    const answers = [...statuses].sort().join(', ')
    assert.ok(
      [...statuses].every((status) => status < 500),
      answers,
    )
    const stdio = attack.start()
    for (const body of bodies) stdio.process.stdin.write(`${body}\n`)
    const listed = await new StdioClient(stdio).request('tools/list')
    assert.ok(Object.hasOwn(Object(listed), 'tools'))
    assert.equal((await fetch(new URL('/health', server.url))).status, 200)
    return { answers }
  },
}
