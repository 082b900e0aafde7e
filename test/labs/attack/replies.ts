import assert from 'node:assert/strict'
import type { ToolResult } from '../../harness/client.ts'
import { badCalls, everyTool } from '../../harness/every-tool.ts'
import { json } from '../../harness/fake-platform.ts'
import { canary, startCanaryPlatform, unsafeLines } from '../../harness/hostile-text-platform.ts'
import { signed } from '../../harness/private-ca.ts'
import { rpc } from '../../harness/rpc.ts'
import { sandboxKeys, seedIds, startSandbox } from '../../harness/sandbox.ts'
import { callBuiltTool, textOf } from '../measure/clients.ts'
import { attackKey, healthDuring, readSubaccount, type Scenario } from './attack.ts'

export const proxy: Scenario = {
  name: 'proxy',
  point: 'The platform is behind a proxy, and its certificate is from a private authority.',
  guarantee:
    'Tools reach the platform with CONNECT and TLS from end to end, so the proxy cannot read the key.',
  async run(attack) {
    const platform = await attack.platform(
      ({ url }, response) => json(response, 200, { id: url.includes('subaccounts') ? 's1' : 'a1' }),
      { tls: signed },
    )
    const { tunnel, env } = await attack.tunnelTo(Number(new URL(platform.url).port))
    const server = await attack.serve({
      env: { ...platform.env, VOICE_AGENT_BASE_URL: 'https://platform.example', ...env },
    })
    const { result } = await rpc(server.url, 'tools/call', readSubaccount)
    assert.partialDeepStrictEqual(result, { structuredContent: { id: 's1' } })
    assert.equal(tunnel.asked[0]?.target, 'platform.example:443')
    assert.equal(tunnel.plain(), 0)
    return { tunnels: tunnel.asked.length }
  },
}

/** Length just below the size limit of a reply, bytes. */
const bytes = 10_000_000

const listOf = (item: string) => `[${`${item},`.repeat(bytes / (item.length + 1) - 1)}${item}]`

/** Replies that are small as text, but large or slow when parsed. */
const largeReplies: Readonly<Record<string, () => string>> = {
  'empty objects': () => `{"count":1,"items":${listOf('{}')}}`,
  'empty lists': () => listOf('[]'),
  numbers: () => `{"count":1,"items":[{"id":"c1","messages":${listOf('1')}}]}`,
  properties: () =>
    `{${Array.from({ length: 600_000 }, (_, index) => `"${index}":1`).join(',')},"id":"c1"}`,
  depth: () => `${'['.repeat(bytes / 2)}${']'.repeat(bytes / 2)}`,
  // Fewer values than the limit, so that only the depth can be refused.
  'depth with few values': () => `${'['.repeat(200_000)}${']'.repeat(200_000)}`,
  'an error': () => `{"code":"x","message":"m","errors":${listOf('{}')}}`,
}

/** Longest response time of /health during the attack, ms. */
const longestParsing = 10_000

export const millionItems: Scenario = {
  name: 'million-items',
  point: 'The platform replies with 10 MB that contain millions of values, or nest millions deep.',
  guarantee:
    'The tool call fails with a reason, the server uses at most 512 MB, and other requests are served meanwhile.',
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
    const health = await healthDuring(
      server.url,
      async () => {
        for (const [name, make] of Object.entries(largeReplies)) {
          body = make()
          const calls = ['list_calls', 'get_call'].flatMap((tool) => Array(4).fill(tool))
          const results = await Promise.all(
            calls.map((tool) =>
              callBuiltTool(server.url, tool, tool === 'get_call' ? { call_id: 'c1' } : {}),
            ),
          )
          for (const result of results) {
            assert.equal(result.isError, true, name)
            assert.match(textOf(result), /\b(300000|500)\b/, name)
          }
        }
      },
      longestParsing,
    )
    return { replies: Object.keys(largeReplies).length * 8, ...health }
  },
}

export const foreignText: Scenario = {
  name: 'foreign-text',
  point:
    'Every text of every reply has line breaks, terminal controls, hidden and reordering characters, and imitates texts of this server.',
  guarantee:
    'In the text of a result each stays on one line and in quotes; in structuredContent it is unchanged.',
  async run(attack) {
    const planted = attack.keep(await startCanaryPlatform('all but words of the API'))
    const server = await attack.serve({ env: { VOICE_AGENT_BASE_URL: planted.url } })
    const client = await attack.client(server.url, attackKey)
    let kept = 0
    const check = (name: string, result: ToolResult) => {
      assert.deepEqual(unsafeLines(textOf(result)), [], name)
      if (JSON.stringify(result.structuredContent ?? {}).includes(escaped)) kept++
    }
    for (const [name, result] of await everyTool(client)) check(name, result)
    for (const [name, [args]] of Object.entries(badCalls))
      check(name, await client.call(name, args))
    planted.fail(true)
    for (const [name, result] of await everyTool(client)) check(name, result)
    assert.ok(kept > 20, `The text came through ${kept} tools only`)
    assert.deepEqual(unsafeLines(server.stderr()), [])
    return { 'results with the text': kept }
  },
}

const escaped = JSON.stringify(canary).slice(1, -1)

const pinned = seedIds.subaccount
const unknown = '00000000-0000-4000-8000-00000000dead'

/** Tool calls for lists, another account, and missing ids, for which the server looks for hints. */
const misses: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['get_current_account', {}],
  ['list_agents', {}],
  ['list_agents', { account_id: seedIds.account }],
  ['list_conversations', {}],
  ['list_conversations', { transcript: 'all', fields: ['*'] }],
  ['get_call', { call_id: unknown }],
  ['get_agent', { agent_id: unknown }],
  ['get_agent', { agent_id: seedIds.supportAgent }],
  ['get_agent', { agent_id: 'Suport line' }],
  ['get_phone_number', { phone_number_id: seedIds.mainNumber }],
  ['get_sip_trunk', { sip_trunk_id: unknown }],
  ['list_calls', { agent_id: 'Suport line' }],
  ['get_conversation', { id: unknown }],
]

export const pinnedAccount: Scenario = {
  name: 'pinned-account',
  point:
    'A client of a server with --account asks for ids that do not exist or belong to other accounts.',
  guarantee:
    'The server requests only data of this account, so that hints and lists name no data of other accounts.',
  async run(attack) {
    using sandbox = startSandbox()
    const platform = await attack.platform(async ({ method, url, body }, response) => {
      const sent = body ? JSON.parse(body) : undefined
      const reply = await sandbox.send(method, url.slice('/v1/'.length), sent)
      json(response, reply.status, reply.body)
    }, {})
    const above = await sandbox.get('accounts/current')
    const beside = await sandbox.get(`accounts/${seedIds.account}/subaccounts`)
    const accounts = [above.body, ...beside.body.items] as { id: string; name: string }[]
    const others = accounts.flatMap(({ id, name }) => (id === pinned ? [] : [name]))
    assert.ok(others.length > 1)
    const server = await attack.serve({
      args: ['--account', pinned],
      env: { VOICE_AGENT_BASE_URL: platform.url },
    })
    const key = sandboxKeys.main
    const client = await attack.client(server.url, key)
    const answers: unknown[] = []
    for (const [name, [args]] of Object.entries(badCalls))
      answers.push(await client.call(name, args))
    for (const [name, args] of misses) answers.push(await client.call(name, args))
    const { resources } = await client.listResources()
    const account = 'voice-agents://account'
    for (const uri of [account, ...resources.map((resource) => resource.uri)])
      answers.push(await rpc(server.url, 'resources/read', { uri }, { key }))
    for (const name of ['agent_id', 'account_id', 'from_number', 'call_id']) {
      const ref = { type: 'ref/prompt', name: 'review_agent' }
      const asked = { ref, argument: { name, value: '' } }
      answers.push(await rpc(server.url, 'completion/complete', asked, { key }))
    }
    // The server first reads the account of the API key, then the pinned account as its subaccount.
    const own = [`/v1/accounts/current`, `/v1/accounts/${seedIds.account}/subaccounts/${pinned}`]
    const outside = platform.seen
      .map(({ url }) => url)
      .filter((url) => !url.startsWith(`/v1/accounts/${pinned}/`) && !own.includes(url))
    assert.deepEqual([...new Set(outside)], [])
    for (const name of others) assert.ok(!JSON.stringify(answers).includes(name), name)
    return { answers: answers.length, 'requests to the platform': platform.seen.length }
  },
}
