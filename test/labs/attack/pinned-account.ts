import assert from 'node:assert/strict'
import { connectHttp } from '../../harness/client.ts'
import { json } from '../../harness/fake-platform.ts'
import { rpc } from '../../harness/rpc.ts'
import { sandboxKeys, seedIds, startSandbox } from '../../harness/sandbox.ts'
import { badCalls } from '../../harness/story.ts'
import type { Scenario } from './scenario.ts'

const pinned = seedIds.subaccount
const unknown = '00000000-0000-4000-8000-00000000dead'

/** Lists, and ids that do not exist, for which the server looks for hints. */
const misses: readonly (readonly [tool: string, args: Record<string, unknown>])[] = [
  ['get_current_account', {}],
  ['list_agents', {}],
  ['list_conversations', {}],
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
    'The platform is only asked about this account, so hints and lists name nothing of others.',
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
    const client = attack.keep(await connectHttp('v2 2026-07-28', server.url, { 'x-api-key': key }))
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
    // The account itself is read as a subaccount of the key's account, once that is known.
    const own = [`/v1/accounts/current`, `/v1/accounts/${seedIds.account}/subaccounts/${pinned}`]
    const outside = platform.seen
      .map(({ url }) => url)
      .filter((url) => !url.startsWith(`/v1/accounts/${pinned}/`) && !own.includes(url))
    assert.deepEqual([...new Set(outside)], [])
    for (const name of others) assert.ok(!JSON.stringify(answers).includes(name), name)
    return { answers: answers.length, 'requests to the platform': platform.seen.length }
  },
}
