import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { crowd, httpText } from '../../harness/hostile-client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool } from '../measure/program.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

const connections = 62
/** What each connection sends, bytes; the answers are 400 times as long. */
const sent = 66_000
const patience = 3000

export const unreadAnswers: Scenario = {
  name: 'unread-answers',
  point: 'Many connections request the list of tools again and again, and read no answer.',
  guarantee: 'The server stays within 512 MB, and other clients are served.',
  async run(attack) {
    const server = await attack.serve({ isMemoryScarce: true })
    const list = httpText(mcpHttpRequest('tools/list'))
    using clients = await crowd(server.url, connections)
    const many = list.repeat(Math.ceil(sent / list.length))
    for (const socket of clients.sockets) socket.write(many)
    let calls = 0
    const health = await healthDuring(server.url, async () => {
      for (const end = performance.now() + patience; performance.now() < end; calls++) {
        assert.ok(!(await callBuiltTool(server.url, 'get_current_account')).isError)
        await sleep(50)
      }
    })
    return { connections, 'calls of others': calls, 'longest wait for /health, ms': health }
  },
}
