import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { crowd, heardOn, httpText } from '../../harness/hostile-client.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool } from '../measure/program.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

const connections = 200
const length = 4 * 1024 * 1024
const clientSeconds = 3

export const unfinishedBodies: Scenario = {
  name: 'unfinished-bodies',
  point: 'A client sends nearly all of a body of 4 MiB on 200 connections, and never the end.',
  guarantee:
    'The server stays within 512 MB, others are served, and the bodies are given up in time.',
  async run(attack) {
    const server = await attack.serve({
      isMemoryScarce: true,
      env: { VOICE_AGENT_CLIENT_TIMEOUT: String(clientSeconds) },
    })
    using clients = await crowd(server.url, connections)
    const begun = httpText(mcpHttpRequest('tools/list'), { length })
    const most = Buffer.alloc(length - 4096, ' ')
    for (const socket of clients.sockets) {
      socket.write(begun)
      socket.write(most)
    }
    let calls = 0
    const health = await healthDuring(server.url, async () => {
      const end = performance.now() + clientSeconds * 1000
      for (; performance.now() < end; calls++) {
        assert.ok(!(await callBuiltTool(server.url, 'get_current_account')).isError)
        await sleep(50)
      }
    })
    // Refused at once because there are too many, or when the time for a body is over.
    const heard = await Promise.all(clients.sockets.map((socket) => heardOn(socket)))
    const statuses = new Set(heard.map((text) => text.slice('HTTP/1.1 '.length, 12)))
    for (const status of statuses) assert.match(status, /^(408|503|)$/)
    return { connections, 'calls of others': calls, 'longest wait for /health, ms': health }
  },
}
