import assert from 'node:assert/strict'
import { freePort, type Program } from '../../harness/program.ts'
import { sendRefused } from '../../harness/rpc.ts'
import { callBuiltTool, StdioClient } from '../measure/program.ts'
import { eventually } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

/** Every write to /dev/full fails as on a full disk (full(4)). */
const fullDisk = 'exec 2>/dev/full'

export const unwritableLog: Scenario = {
  name: 'unwritable-log',
  point: 'The log cannot be written: the disk is full, or the reader of the pipe has gone.',
  guarantee: 'The server goes on, over HTTP and over stdio, and ends when it is told to.',
  async run(attack) {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}/mcp`
    const full = attack.start({ args: ['http', '--port', String(port)], before: fullDisk })
    const isThere = () => fetch(new URL('/health', url)).then(({ ok }) => ok)
    await eventually('the server answers', () => isThere().catch(() => false))
    const piped = await attack.serve()
    piped.process.stderr.destroy()
    const logged = (await Promise.all([url, piped.url].map(withstands))).reduce((a, b) => a + b)
    assert.deepEqual(await Promise.all([full, piped].map(stopped)), [0, 0])

    const stdio = attack.start({ before: fullDisk })
    stdio.process.stdin.write('nonsense\n')
    await new StdioClient(stdio).request('tools/call', { name: 'list_agents', arguments: {} })
    stdio.process.stdin.end()
    assert.equal(await stdio.exited, 0)
    return { 'refused requests': logged }
  },
}

/** Sends requests that are refused and logged, then a tool call; gives the number of refusals. */
async function withstands(url: string): Promise<number> {
  const times = 20
  for (let time = 0; time < times; time++) assert.equal(await sendRefused(url), 400)
  assert.ok(!(await callBuiltTool(url, 'list_agents')).isError)
  return times
}

/** Exit code after SIGTERM. */
function stopped({ process: child, exited }: Program): Promise<number | null> {
  child.kill('SIGTERM')
  return exited
}
