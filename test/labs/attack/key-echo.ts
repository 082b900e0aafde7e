import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { connectHttp } from '../../harness/client.ts'
import { json } from '../../harness/fake-platform.ts'
import type { Scenario } from './scenario.ts'

const key = 'Secret-Key-0123456789-AbCdEf'

/** Replies that contain the key of the request. */
const echoes: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'as a value': (response) =>
    json(response, 200, { id: key, name: `Its key is ${key}.`, items: [{ id: key, note: key }] }),
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
/** Calls of each kind: read one, read a list, change, and several requests. */
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
  guarantee: 'No result, error or log line contains it, in any encoding.',
  async run(attack) {
    let echo: (response: ServerResponse) => void = (response) => json(response, 200, {})
    const platform = await attack.platform((_, response) => echo(response))
    const server = await attack.serve({ env: { VOICE_AGENT_BASE_URL: platform.url } })
    const client = attack.keep(await connectHttp('v2 2026-07-28', server.url, { 'x-api-key': key }))
    let results = 0
    for (const [how, echoed] of Object.entries(echoes)) {
      echo = echoed
      for (const [name, args] of calls) {
        const result = JSON.stringify(await client.call(name, { ...args })).toLowerCase()
        assert.ok(!result.includes(key.toLowerCase()), `${name}, ${how}: ${result.slice(0, 300)}`)
        results++
      }
    }
    assert.ok(!server.stderr().toLowerCase().includes(key.toLowerCase()), 'The log has the key')
    return { results }
  },
}
