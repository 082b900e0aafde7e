import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import type { Scenario } from './scenario.ts'

const requests = 8_000

export const unreadStdio: Scenario = {
  name: 'unread-stdio',
  point: 'A client over stdio requests the list of tools 8,000 times and reads nothing.',
  guarantee: 'The program stays within 512 MB; what it has read is answered once the client reads.',
  async run(attack) {
    const program = attack.start({ isMemoryScarce: true })
    const { stdin, stdout } = program.process
    // A tool call first: until then the stdio handshake answers, which is another part of the program.
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
