import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { json } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import type { Scenario } from './scenario.ts'

const prefix = 'voice-agent-mcp-local-'
const guessed = `${prefix}${'A'.repeat(43)}`

/** Headers without the local token, and the status of the answer. */
const strangers: readonly (readonly [status: number, headers: Record<string, string>])[] = [
  [401, {}],
  [401, { 'x-mcp-local-token': '' }],
  [401, { 'x-mcp-local-token': guessed }],
  [401, { authorization: `Bearer ${guessed}` }],
  [400, { 'x-api-key': guessed }],
]

/** Headers with which a request is refused even with the local token, and the status. */
const origins: readonly (readonly [status: number, headers: Record<string, string>])[] = [
  [403, { origin: 'http://localhost:6274' }],
  [403, { origin: 'http://127.0.0.1:8080' }],
  [403, { origin: 'https://evil.example' }],
  [401, { 'x-forwarded-for': '127.0.0.1' }],
  [401, { forwarded: 'for=127.0.0.1' }],
  [401, { via: '1.1 proxy' }],
]

/** How many of each are sent at once. */
const times = 50

export const ownKey: Scenario = {
  name: 'own-key',
  point: 'Other users of the machine, pages on localhost and proxies find a server with a key.',
  guarantee: "Only requests with the local token use the server's key; only its user can read it.",
  async run(attack) {
    const platform = await attack.platform((_, response) => json(response, 200, { id: 's1' }))
    const folder = attack.folder()
    const server = await attack.serve({
      env: { ...platform.env, VOICE_AGENT_LOCAL_TOKEN: 'on', VOICE_AGENT_STATE_DIR: folder },
      before: 'umask 000',
    })
    const file = join(folder, 'local-token')
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const token = { 'x-mcp-local-token': readFileSync(file, 'utf8').trim() }
    const tool = mcpHttpRequest('tools/call', {
      name: 'get_subaccount',
      arguments: { subaccount_id: '11111111-1111-4111-8111-111111111111' },
    })
    const ask = async (headers: Record<string, string>) => {
      const response = await fetch(server.url, {
        ...tool,
        headers: { ...tool.headers, ...headers },
      })
      return { status: response.status, text: await response.text() }
    }
    const all = [
      ...strangers,
      ...origins,
      ...origins.map(([status, headers]) => [status, { ...headers, ...token }] as const),
    ].flatMap((one) => Array<typeof one>(times).fill(one))
    const answers = await Promise.all(all.map(([, headers]) => ask(headers)))
    for (const [index, { status, text }] of answers.entries()) {
      assert.equal(status, all[index]?.[0], JSON.stringify(all[index]))
      assert.ok(!text.includes(prefix), text)
    }
    assert.equal(platform.seen.length, 0)
    const own = await ask(token)
    assert.equal(own.status, 200)
    assert.match(own.text, /"structuredContent":\{.*"id":"s1"/)
    const logged = server.stderr().split('\n')
    const beside = logged.filter((line) => line.includes(prefix) && !/^(Claude|Other)/.test(line))
    assert.deepEqual(beside, [])
    return { 'requests refused': all.length }
  },
}
