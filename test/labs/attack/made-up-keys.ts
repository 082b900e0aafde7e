import assert from 'node:assert/strict'
import { envelope, json } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool } from '../measure/program.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

const keys = 300
const atOnce = 20

/** Heap limit, MB: about 20 are in use, so 60 kB kept of each key exceed it. */
const heap = 36

/** Longest wait of /health meanwhile, ms. */
const longestWait = 3000

const goodKey = 'other-key'

/** A key as long as a key may be, of characters that can be written in many ways. */
const madeUpKey = (nth: number) => `${nth}-`.padEnd(4096, '/+"-aA')

export const madeUpKeys: Scenario = {
  name: 'made-up-keys',
  point:
    'A client sends a tool call with each of 300 made-up keys of 4,096 characters to a program with a heap of 36 MB; each key is among the arguments.',
  guarantee: 'Nothing is kept of a key that the platform refuses, and others are served.',
  async run(attack) {
    const platform = await attack.platform(({ headers }, response) => {
      if (headers['x-api-key'] !== goodKey) return json(response, 401, envelope('unauthorized'))
      json(response, 200, { id: 'own', name: 'There' })
    }, {})
    const env = { ...platform.env, VOICE_AGENT_MAX_RATE_PER_ADDRESS: '0' }
    const nodeOptions = [`--max-old-space-size=${heap}`]
    const server = await attack.serve({ env, nodeOptions, isMemoryScarce: true })
    const send = async (nth: number) => {
      const key = madeUpKey(nth)
      const call = { name: 'get_agent', arguments: { agent_id: key } }
      const response = await fetch(server.url, mcpHttpRequest('tools/call', call, { key }))
      assert.ok(!(await response.text()).includes(`${nth}-/`), 'The answer has the key')
    }
    const health = await healthDuring(server.url, async () => {
      for (let done = 0; done < keys; done += atOnce)
        await Promise.all(Array.from({ length: atOnce }, (_, index) => send(done + index)))
    })
    assert.ok(health < longestWait, `The server was silent for ${health} ms`)
    const other = await callBuiltTool(server.url, 'get_current_account', {}, { key: goodKey })
    assert.ok(!other.isError)
    return { keys, 'longest wait for /health, ms': health }
  },
}
