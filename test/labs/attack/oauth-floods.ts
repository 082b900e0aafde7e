import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { bearer, callTool, registeredClient } from '../../harness/oauth-flow.ts'
import { registeredKeyClient } from '../../harness/oauth-key-client.ts'
import { freePort } from '../../harness/program.ts'
import type { Attack } from './attack.ts'
import type { Scenario } from './scenario.ts'

const Rows = z.object({ count: z.number(), last: z.number().nullable() })

/** Serves OAuth on the sandbox. `records`: how many records there are of the kinds, and their last end. */
async function serveOauth(attack: Attack) {
  const folder = attack.folder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const oauth = ['--oauth', '--public-url', url, '--port', String(port)]
  const server = attack.start({
    args: ['http', ...oauth, '--state-dir', folder],
    env: { VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '0' },
    isMemoryScarce: true,
  })
  await server.waitFor(/Serving MCP at (\S+)/)
  const records = (kinds: string) => {
    using db = new DatabaseSync(join(folder, 'sandbox-records.db'))
    const sql = 'SELECT count(*) AS count, max(expires) AS last FROM records WHERE kind LIKE ?'
    return Rows.parse(db.prepare(sql).get(kinds))
  }
  const use = async (token: string) =>
    (await callTool(`${url}/mcp`, 'list_agents', bearer(token))).status
  return { url, records, use }
}

export const oneGrant: Scenario = {
  name: 'one-grant',
  point: 'A client renews its access without end, and then comes with its first refresh token.',
  guarantee:
    'It may 60 times an hour, a refusal uses nothing up, no record is left, and others connect and renew. The first token ends its access.',
  async run(attack) {
    const { url, records, use } = await serveOauth(attack)
    const [flow, others] = [await registeredClient({ url }), await registeredClient({ url })]
    let theirs = await others.tokens()
    const first = await flow.tokens()
    const before = records('oauth_%').count
    let newest = first
    let renewals = 0
    let refused = 0
    while (refused < 200 && renewals < 500) {
      try {
        newest = await flow.refresh(newest.refresh_token ?? '')
        renewals++
      } catch (error) {
        assert.equal(z.object({ status: z.number() }).parse(error).status, 429)
        refused++
      }
    }
    assert.ok(renewals <= 61, `${renewals} renewals`)
    const left = records('oauth_%').count - before
    assert.ok(left <= 0, `${left} records are left`)
    assert.equal(await use(newest.access_token), 200)
    theirs = await others.refresh(theirs.refresh_token ?? '')
    assert.equal(await use((await others.tokens()).access_token), 200)
    await assert.rejects(flow.refresh(first.refresh_token ?? ''), { error: 'invalid_grant' })
    assert.equal(await use(newest.access_token), 401)
    assert.equal(await use(theirs.access_token), 200)
    return { renewals, 'renewals refused': refused }
  },
}

export const longAssertions: Scenario = {
  name: 'long-assertions',
  point:
    'A client sends 1,000 assertions that are valid until 2100, with the time of issue and without.',
  guarantee:
    'Without it none is accepted. 300 a minute are, each is forgotten within 8 minutes, and other clients are served.',
  async run(attack) {
    const { url, records } = await serveOauth(attack)
    const [greedy, other] = [await registeredKeyClient(url), await registeredKeyClient(url)]
    const exp = Date.UTC(2100) / 1000
    const iat = Math.floor(Date.now() / 1000)
    const flood = (times: { exp: number; iat?: number }) =>
      Promise.all(Array.from({ length: 500 }, () => greedy.send(greedy.assertion(times))))
    for (const { error } of await flood({ exp })) assert.equal(error, 'invalid_client')
    const answers = await flood({ exp, iat })
    const accepted = answers.filter(({ error }) => error === 'invalid_grant').length
    const refused = answers.filter(({ status }) => status === 429).length
    assert.equal(accepted + refused, answers.length)
    // The allowance fills by five a second.
    assert.ok(accepted < 450, `${accepted} were accepted`)
    const { count, last } = records('oauth_replay')
    assert.equal(count, accepted)
    assert.ok((last ?? 0) < Date.now() + 8 * 60_000)
    assert.equal((await other.send(other.assertion({ exp: iat + 60 }))).error, 'invalid_grant')
    return { 'assertions accepted': accepted }
  },
}
