import assert from 'node:assert/strict'
import { callBuiltTool, textOf } from '../measure/program.ts'
import { healthDuring } from './http-checks.ts'
import type { Scenario } from './scenario.ts'

/** Just below the size limit of a reply. */
const bytes = 10_000_000

const listOf = (item: string) => `[${`${item},`.repeat(bytes / (item.length + 1) - 1)}${item}]`

/** Replies that are small as text, and large or slow when they are parsed. */
const bodies: Readonly<Record<string, () => string>> = {
  'empty objects': () => `{"count":1,"items":${listOf('{}')}}`,
  'empty lists': () => listOf('[]'),
  numbers: () => `{"count":1,"items":[{"id":"c1","messages":${listOf('1')}}]}`,
  properties: () =>
    `{${Array.from({ length: 600_000 }, (_, index) => `"${index}":1`).join(',')},"id":"c1"}`,
  depth: () => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  'an error': () => `{"code":"x","message":"m","errors":${listOf('{}')}}`,
}

/** Longest wait of /health meanwhile, ms. */
const longestWait = 10_000

export const millionItems: Scenario = {
  name: 'million-items',
  point: 'The platform replies with 10 MB that contain millions of values, or nest millions deep.',
  guarantee: 'The call fails and says so, within 512 MB; other requests are answered meanwhile.',
  async run(attack) {
    let body = ''
    const platform = await attack.platform(({ url }, response) => {
      const status = url.includes('/calls') ? 200 : 404
      response.writeHead(body.startsWith('{"code"') ? 422 : status, {
        'content-type': 'application/json',
      })
      response.end(body)
    })
    const server = await attack.serve({ env: platform.env, isMemoryScarce: true })
    const health = await healthDuring(server.url, async () => {
      for (const [name, make] of Object.entries(bodies)) {
        body = make()
        const calls = ['list_calls', 'get_call'].flatMap((tool) => Array(4).fill(tool))
        const results = await Promise.all(
          calls.map((tool) =>
            callBuiltTool(server.url, tool, tool === 'get_call' ? { call_id: 'c1' } : {}),
          ),
        )
        for (const result of results) {
          assert.equal(result.isError, true, name)
          assert.match(textOf(result), /more than 300000 values|nested more than 500 deep/, name)
        }
      }
    })
    assert.ok(health < longestWait, `The server was silent for ${health} ms`)
    return { replies: Object.keys(bodies).length * 8, 'longest wait for /health, ms': health }
  },
}
