import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { startDocumentServer } from '../../harness/client-document-server.ts'
import { bearer, callTool, registeredClient } from '../../harness/oauth-flow.ts'
import { registeredKeyClient } from '../../harness/oauth-key-client.ts'
import { freePort } from '../../harness/program.ts'
import { exchange } from '../../harness/raw-http.ts'
import { concurrently } from '../measure/concurrency.ts'
import type { Attack, Scenario, Starting } from './attack.ts'

const attacker = '203.0.113.1'
const other = '203.0.113.2'
const Registered = z.object({ client_id: z.string() })
const redirectUri = 'https://platform.example/callback'

/** Starts the authorization server on the sandbox, behind a proxy that names client addresses. */
async function serveOauth(attack: Attack, env: Starting['env'] = {}) {
  const port = await freePort()
  const origin = `http://127.0.0.1:${port}`
  // `serve` passes a port of its own; the last `--port` wins.
  const args = ['--port', `${port}`, '--oauth', '--public-url', origin]
  await attack.serve({
    args,
    env: { VOICE_AGENT_TRUSTED_PROXIES: '127.0.0.1', ...env },
    isMemoryScarce: true,
  })
  const send = async (path: string, from: string, init: RequestInit = {}) => {
    const headers = { 'x-forwarded-for': from, ...init.headers }
    const response = await fetch(origin + path, { ...init, headers, redirect: 'manual' })
    return { status: response.status, text: await response.text() }
  }
  /** Query of an authorization request. */
  const asking = (clientId: string, more: Record<string, string> = {}) =>
    `?${new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: 'code',
      code_challenge: createHash('sha256').update('a').digest('base64url'),
      code_challenge_method: 'S256',
      ...more,
    })}`
  return { origin, send, asking }
}

/** Spellings that a router might accept for the path of authorization requests. */
const spellings = [
  '/oauth/authorize/',
  '/oauth/AUTHORIZE',
  '/OAUTH/authorize',
  '/oauth//authorize',
  '/oauth/%61uthorize',
  '/oauth/x/../authorize',
  '/oauth/authorize;a',
  '/oauth/authorize#',
  '/oauth/authorize/a/',
  '/oauth/Interaction/a',
]

export const oauthPaths: Scenario = {
  name: 'oauth-paths',
  point:
    'An unknown client sends authorization requests with other spellings of the path, with the response modes form_post and fragment, and 1,000 times.',
  guarantee:
    'Only the exact path is found, and its requests are limited. Responses use the query only. Other clients are authorized.',
  async run(attack) {
    const { origin, send, asking } = await serveOauth(attack)
    const registered = await send('/oauth/register', other, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'none',
      }),
    })
    assert.equal(registered.status, 201)
    const { client_id } = Registered.parse(JSON.parse(registered.text))
    for (const mode of ['form_post', 'fragment', 'web_message']) {
      const query = asking(client_id, { response_mode: mode })
      for (const path of spellings) {
        const head = `GET ${path}${query} HTTP/1.1\r\nhost: ${new URL(origin).host}\r\nconnection: close\r\n\r\n`
        assert.match(await exchange(origin, head), /^HTTP\/1\.1 404 /, path)
      }
      const { status, text } = await send(`/oauth/authorize${query}`, other)
      assert.equal(status, 400)
      assert.doesNotMatch(text, /<form|http-equiv/)
    }
    const path = `/oauth/authorize${asking(client_id)}`
    const statuses = await concurrently(1000, async () => (await send(path, attacker)).status)
    const admitted = statuses.filter((status) => status === 303).length
    // The quota of 300 refills during the attack.
    assert.ok(admitted < 400, `${admitted} requests for access were admitted`)
    assert.ok(statuses.includes(429))
    assert.equal((await send(path, other)).status, 303)
    return { 'paths refused': spellings.length * 3, 'requests admitted, of 1,000': admitted }
  },
}

export const clientDocuments: Scenario = {
  name: 'client-documents',
  point:
    'One address sends 400 token, revocation and authorization requests of clients whose metadata documents never arrive.',
  guarantee:
    'The token and revocation endpoints fetch no documents of unknown clients, and clients at other addresses are authorized.',
  async run(attack) {
    const web = attack.keep(
      await startDocumentServer((request, response) => {
        const { url = '' } = request
        if (!url.startsWith('/good')) return
        response.setHeader('content-type', 'application/json').end(
          JSON.stringify({
            client_id: `https://platform.example${url}`,
            redirect_uris: [redirectUri],
            token_endpoint_auth_method: 'none',
          }),
        )
      }),
    )
    const { env } = await attack.tunnelTo(web.port)
    const { send, asking } = await serveOauth(attack, env)
    const slow = (index: number) => `https://platform.example/slow-${index}`
    const post = (endpoint: string, fields: Record<string, string>) =>
      send(`/oauth/${endpoint}`, attacker, { method: 'POST', body: new URLSearchParams(fields) })
    const unknown = { grant_type: 'refresh_token', refresh_token: 'a' }
    await concurrently(100, (index) => post('token', { ...unknown, client_id: slow(index) }))
    await concurrently(100, (index) => post('revoke', { token: 'a', client_id: slow(index) }))
    assert.equal(web.asked.length, 0)
    const asked = concurrently(200, (index) =>
      send(`/oauth/authorize${asking(slow(index))}`, attacker),
    )
    let others = 0
    const done = asked.then(() => true)
    do {
      const good = `https://platform.example/good-${others++}`
      assert.equal((await send(`/oauth/authorize${asking(good)}`, other)).status, 303)
    } while (others < 25 && !(await Promise.race([done, Promise.resolve(false)])))
    await asked
    const fetched = web.asked.filter((path) => path.startsWith('/slow')).length
    assert.ok(fetched <= 30, `${fetched} documents were fetched for one address`)
    return { 'documents fetched for the attacker': fetched, 'others that got in': others }
  },
}

const Rows = z.object({ count: z.number(), last: z.number().nullable() })

/**
 * Starts the same server with its state in a folder. Reads the number of records of some kinds, and
 * their last expiry.
 */
async function serveRecorded(attack: Attack) {
  const folder = attack.folder()
  const { origin: url } = await serveOauth(attack, {
    VOICE_AGENT_STATE_DIR: folder,
    VOICE_AGENT_MAX_REQUESTS_PER_ADDRESS: '0',
  })
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
  point:
    'A client refreshes its access token without end, and then uses its first refresh token again.',
  guarantee:
    'Up to 60 refreshes an hour are allowed; a refused one uses no refresh token and leaves no record, and other clients connect and refresh. Reuse of the first token revokes the grant.',
  async run(attack) {
    const { url, records, use } = await serveRecorded(attack)
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
    'A client sends 1,000 assertions that are valid until 2100, half of them without a time of issue.',
  guarantee:
    'Assertions without a time of issue are refused. Of the others 300 a minute are accepted, each record expires within 8 minutes, and other clients are served.',
  async run(attack) {
    const { url, records } = await serveRecorded(attack)
    const [greedy, other] = [await registeredKeyClient(url), await registeredKeyClient(url)]
    const exp = Date.UTC(2100) / 1000
    const iat = Math.floor(Date.now() / 1000)
    const flood = (times: { exp: number; iat?: number }) =>
      concurrently(500, () => greedy.send(greedy.assertion(times)))
    for (const { error } of await flood({ exp })) assert.equal(error, 'invalid_client')
    const answers = await flood({ exp, iat })
    const accepted = answers.filter(({ error }) => error === 'invalid_grant').length
    const refused = answers.filter(({ status }) => status === 429).length
    assert.equal(accepted + refused, answers.length)
    // The quota refills by five per second.
    assert.ok(accepted < 450, `${accepted} were accepted`)
    const { count, last } = records('oauth_replay')
    assert.equal(count, accepted)
    assert.ok((last ?? 0) < Date.now() + 8 * 60_000)
    assert.equal((await other.send(other.assertion({ exp: iat + 60 }))).error, 'invalid_grant')
    return { 'assertions accepted': accepted }
  },
}
