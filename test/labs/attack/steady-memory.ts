import assert from 'node:assert/strict'
import { StdioClient } from '../measure/program.ts'
import type { Scenario } from './scenario.ts'

const calls = 20_000
const atOnce = 50

/** Heap limit, MB: about 20 are in use, so 1 kB kept of each message exceeds it. */
const heap = 36

export const steadyMemory: Scenario = {
  name: 'steady-memory',
  point: 'One client over stdio sends 20,000 messages to a program with a heap of 36 MB.',
  guarantee: 'Nothing of a message is kept after its answer: all are answered.',
  async run(attack) {
    const program = attack.start({
      isMemoryScarce: true,
      nodeOptions: [`--max-old-space-size=${heap}`],
    })
    const client = new StdioClient(program)
    const asked = { name: 'get_current_account', arguments: {} }
    for (let done = 0; done < calls; done += atOnce) {
      await Promise.all(Array.from({ length: atOnce }, () => client.request('tools/call', asked)))
    }
    program.process.stdin.end()
    assert.equal(await program.exited, 0)
    return { calls }
  },
}
