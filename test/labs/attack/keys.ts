import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { envelope, json } from '../../harness/fake-platform.ts'
import { mcpHttpRequest } from '../../harness/mcp-request.ts'
import { callBuiltTool } from '../measure/clients.ts'
import { concurrently } from '../measure/concurrency.ts'
import { healthDuring, readSubaccount, type Scenario } from './attack.ts'

const prefix = 'voice-agent-mcp-local-'
const guessed = `${prefix}${'A'.repeat(43)}`

/** Headers without the local token, with the expected status. */
const strangers: readonly (readonly [status: number, headers: Record<string, string>])[] = [
  [401, {}],
  [401, { 'x-mcp-local-token': '' }],
  [401, { 'x-mcp-local-token': guessed }],
  [401, { authorization: `Bearer ${guessed}` }],
  [400, { 'x-api-key': guessed }],
]

/** Headers that are refused even with the local token, with the expected status. */
const origins: readonly (readonly [status: number, headers: Record<string, string>])[] = [
  [403, { origin: 'http://localhost:6274' }],
  [403, { origin: 'http://127.0.0.1:8080' }],
  [403, { origin: 'https://evil.example' }],
  [401, { 'x-forwarded-for': '127.0.0.1' }],
  [401, { forwarded: 'for=127.0.0.1' }],
  [401, { via: '1.1 proxy' }],
]

/** Concurrent requests of each kind. */
const times = 50

export const ownKey: Scenario = {
  name: 'own-key',
  point:
    'Other users of the machine, pages on localhost and proxies send requests to a server that has an API key.',
  guarantee:
    "Only requests with the local token use the server's key, and only the server's user can read the token.",
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
    const tool = mcpHttpRequest('tools/call', readSubaccount)
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

const keys = 300
const keyConcurrency = 20

/** Heap limit, MB. About 20 are in use, so storing 60 kB per key would exceed the limit. */
const heap = 36

/** Longest response time of /health during the attack, ms. */
const longestWait = 3000

const goodKey = 'other-key'

/** An API key of the maximum length, of characters with several encodings. */
const madeUpKey = (nth: number) => `${nth}-`.padEnd(4096, '/+"-aA')

export const madeUpKeys: Scenario = {
  name: 'made-up-keys',
  point:
    'A client sends a tool call with each of 300 made-up keys of 4,096 characters to a program with a heap of 36 MB; each key is among the arguments.',
  guarantee:
    'The server stores nothing about a key that the platform refuses, and serves other clients.',
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
    const health = await healthDuring(
      server.url,
      async () => {
        for (let done = 0; done < keys; done += keyConcurrency)
          await concurrently(keyConcurrency, (index) => send(done + index))
      },
      longestWait,
    )
    const other = await callBuiltTool(server.url, 'get_current_account', {}, { key: goodKey })
    assert.ok(!other.isError)
    return { keys, ...health }
  },
}

const longKey = `${'a'.repeat(4095)}b`

/**
 * Texts that nearly match the API key at every offset: plain, and in encodings that redaction
 * decodes.
 */
const texts = ['a', '%61', '\\u0061', '&#97;', '61', 'YWFh'].map((unit) =>
  unit.repeat((256 * 1024) / unit.length),
)

export const nearlyTheKey: Scenario = {
  name: 'nearly-the-key',
  point:
    'URIs, names and arguments of 256 kB, and replies of the platform, nearly match a key of 4,096 characters at every position.',
  guarantee: 'The search for the key takes linear time, so other clients are served meanwhile.',
  async run(attack) {
    let reply = ''
    const platform = await attack.platform((_, response) =>
      json(response, 200, { id: 'a1', name: reply }),
    )
    const env = { ...platform.env, VOICE_AGENT_MAX_RATE_PER_ADDRESS: '0' }
    const server = await attack.serve({ env, isMemoryScarce: true })
    // Requests of a 2025 revision have the name of the tool or resource only in the body.
    const ask = async (method: string, params: object) => {
      const { headers, body } = mcpHttpRequest(method, { ...params }, { key: longKey, meta: {} })
      const { 'mcp-method': _, 'mcp-name': __, ...rest } = { 'mcp-name': '', ...headers }
      const sent = { ...rest, 'mcp-protocol-version': '2025-11-25' }
      const response = await fetch(server.url, { method: 'POST', headers: sent, body })
      await response.text()
      assert.equal(response.status, 200)
    }
    let requests = 0
    const health = await healthDuring(
      server.url,
      async () => {
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
      },
      longestWait,
    )
    return { requests, ...health }
  },
}

const key = 'Secret-Key-0123456789-AbCdEf'

/** The key in capitals and encoded. */
const spellings = [
  key,
  key.toUpperCase(),
  Buffer.from(key).toString('base64url'),
  Buffer.from(key).toString('hex'),
  Buffer.from(key).toString('hex').replaceAll(/../g, '%$&'),
]

/** Replies that contain the key of the request. */
const echoes: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'as a value': (response) =>
    json(response, 200, { id: key, name: `Its key is ${key}.`, items: [{ id: key, note: key }] }),
  'in other spellings': (response) =>
    json(response, 200, {
      id: 'a1',
      name: spellings.join(' '),
      items: spellings.map((spelling) => ({ id: 'i1', note: spelling })),
    }),
  'as a name': (response) =>
    json(response, 200, {
      id: 'a1',
      name: 'n',
      [key]: 1,
      items: [{ id: 'i1', [key]: { [key]: 1 } }],
    }),
  'in an error': (response) =>
    json(response, 422, {
      code: key,
      message: `The key ${key} may not do that.`,
      detail: key,
      errors: [{ field: key, message: key, type: key }],
    }),
  'in the address of a redirect': (response) =>
    void response.writeHead(307, { location: `https://${key}.example/${key}?key=${key}` }).end(),
  'in a page': (response) =>
    void response
      .writeHead(500, { 'content-type': 'text/html', 'x-request-id': key })
      .end(`<title>${key}</title>`),
}

const all = { fields: ['*'] }
/** Tool calls of each kind: one read, a list, a change, and one with several requests. */
const calls: readonly (readonly [tool: string, args: object])[] = [
  ['get_current_account', {}],
  ['list_subaccounts', {}],
  ['list_agents', all],
  ['get_agent', { agent_id: 'a1' }],
  ['get_agent', { agent_id: 'a name' }],
  ['update_agent', { agent_id: 'a1', note: 'n' }],
  ['create_subaccount', { name: 'n' }],
  ['list_calls', all],
  ['get_call', { call_id: 'c1' }],
  ['wait_for_call', { call_id: 'c1', timeout_seconds: 1 }],
  ['list_voices', { provider: 'elevenlabs' }],
  ['list_models', {}],
  ['get_usage', { granularity: 'month' }],
  ['delete_phone_number', { phone_number_id: 'p1' }],
]

export const keyEcho: Scenario = {
  name: 'key-echo',
  point: 'The platform returns the key in values, names, errors, redirects, headers and pages.',
  guarantee: 'No result, error or log line contains the key, in any encoding.',
  async run(attack) {
    let echo: (response: ServerResponse) => void = (response) => json(response, 200, {})
    const platform = await attack.platform((_, response) => echo(response))
    const server = await attack.serve({ env: { VOICE_AGENT_BASE_URL: platform.url } })
    const client = await attack.client(server.url, key)
    let results = 0
    for (const [how, echoed] of Object.entries(echoes)) {
      echo = echoed
      for (const [name, args] of calls) {
        const result = JSON.stringify(await client.call(name, { ...args })).toLowerCase()
        for (const spelling of spellings) {
          const shown = result.includes(spelling.toLowerCase())
          assert.ok(!shown, `${name}, ${how}: ${result.slice(0, 300)}`)
        }
        results++
      }
    }
    assert.ok(!server.stderr().toLowerCase().includes(key.toLowerCase()), 'The log has the key')
    return { results }
  },
}
