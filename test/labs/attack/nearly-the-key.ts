import assert from 'node:assert/strict'
import { json } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

const key = `${'a'.repeat(4095)}b`

/** Nearly the key, over and over: plain, and in spellings that are looked through. */
const texts = ['a', '%61', '\\u0061', '&#97;', '61', 'YWFh'].map((unit) =>
  unit.repeat((256 * 1024) / unit.length),
)

/** Longest wait of /health meanwhile, ms. */
const longestWait = 3000

export const nearlyTheKey: Scenario = {
  name: 'nearly-the-key',
  point:
    'Addresses, names and arguments of 256 kB, and replies of the platform, nearly repeat a key of 4,096 characters at every place.',
  guarantee: 'The key is looked for in linear time: others are answered meanwhile.',
  async run(attack) {
    let reply = ''
    const platform = await attack.platform((_, response) =>
      json(response, 200, { id: 'a1', name: reply }),
    )
    const env = { ...platform.env, VOICE_AGENT_MAX_RATE_PER_ADDRESS: '0' }
    const server = await attack.serve({ env, isMemoryScarce: true })
    // Of a 2025 revision: there the name is in the body alone.
    const ask = async (method: string, params: object) => {
      const { headers, body } = mcpHttpRequest(method, { ...params }, { key, meta: {} })
      const { 'mcp-method': _, 'mcp-name': __, ...rest } = { 'mcp-name': '', ...headers }
      const sent = { ...rest, 'mcp-protocol-version': '2025-11-25' }
      const response = await fetch(server.url, { method: 'POST', headers: sent, body })
      await response.text()
      assert.equal(response.status, 200)
    }
    let requests = 0
    const health = await healthDuring(server.url, async () => {
      for (const text of texts) {
        reply = text
        const args = { agent_id: 'a1', note: text }
        await ask('resources/read', { uri: `voice-agents://x/%41${text}` })
        await ask('prompts/get', { name: text, arguments: {} })
        await ask('tools/call', { name: text, arguments: {} })
        await ask('tools/call', { name: 'get_agent', arguments: args })
        await ask('tools/call', { name: 'get_agent', arguments: { agent_id: 'a1' } })
        requests += 5
      }
    })
    assert.ok(health < longestWait, `The server was silent for ${health} ms`)
    return { requests, 'longest wait for /health, ms': health }
  },
}
