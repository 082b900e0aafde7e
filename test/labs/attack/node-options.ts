import assert from 'node:assert/strict'
import { callBuiltTool } from '../measure/program.ts'
import type { Scenario } from './scenario.ts'

/** Prints a line for each process that starts with the operator's options, with its heap limit. */
const tells = `import{getHeapStatistics as s}from'node:v8';console.error('started',process.pid,Math.round(s().heap_size_limit/2**20))`

export const nodeOptions: Scenario = {
  name: 'node-options',
  point: 'An operator sets Node options.',
  guarantee: 'They apply: the program is one process and never restarts itself with other options.',
  async run(attack) {
    const heap = 200
    const server = await attack.serve({
      env: {
        NODE_OPTIONS: `--max-old-space-size=${heap} --max-semi-space-size=1 --import=data:text/javascript,${encodeURIComponent(tells)}`,
      },
    })
    await callBuiltTool(server.url, 'list_agents')
    const started = [...server.stderr().matchAll(/^started (\d+) (\d+)$/gm)]
    assert.deepEqual(
      started.map(([, pid]) => Number(pid)),
      [server.process.pid],
    )
    const limit = Number(started[0]?.[2])
    assert.ok(limit >= heap && limit < heap + 20, `The heap may have ${limit} MB`)
    return { 'heap limit, MB': limit }
  },
}
