import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { bearer, callTool, type OauthFlow, registeredClient } from '../harness/oauth-flow.ts'
import { givenClient } from '../harness/oauth-program.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'
import { scratchFolder } from '../harness/program.ts'

const documentUrl = 'https://assistant.example/client.json'

let server: OauthServer
let flow: OauthFlow
beforeAll(async () => {
  using folder = scratchFolder()
  const clients = join(folder.path, 'clients.json')
  writeFileSync(clients, JSON.stringify([givenClient]))
  const documents = { [documentUrl]: { ...givenClient, client_id: documentUrl } }
  server = await startOauthServer({ texts: { 'oauth-clients': clients }, documents })
  flow = await registeredClient(server)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.errors).toEqual([])
})

const use = (token: string) => callTool(server.mcp, 'list_agents', bearer(token))
const refused = { error: 'invalid_grant' }

describe('a code', () => {
  test('is used once: the second use ends what the first one got', async () => {
    const code = await flow.code()
    const tokens = await flow.exchange(code)
    expect((await use(tokens.access_token)).status).toBe(200)
    await expect(flow.exchange(code)).rejects.toMatchObject(refused)
    expect((await use(tokens.access_token)).status).toBe(401)
    await expect(flow.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(refused)
  })

  test('of many requests at the same moment gives tokens to none for long', async () => {
    const code = await flow.code()
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => flow.exchange(code)))
    const got = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(got.length).toBeLessThanOrEqual(1)
    for (const { access_token } of got) expect((await use(access_token)).status).toBe(401)
  })

  test('needs its verifier, and its client', async () => {
    const code = await flow.code()
    const other = await registeredClient(server)
    await expect(other.exchange(code)).rejects.toMatchObject(refused)
    const verifier = (await flow.code()).verifier
    await expect(flow.exchange({ ...code, verifier })).rejects.toMatchObject(refused)
  })
})

describe('a refresh token', () => {
  test('is used once: the second use ends the grant, with the newer tokens', async () => {
    const first = await flow.tokens()
    const second = await flow.refresh(first.refresh_token ?? '')
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await use(second.access_token)).status).toBe(200)
    await expect(flow.refresh(first.refresh_token ?? '')).rejects.toMatchObject(refused)
    expect((await use(second.access_token)).status).toBe(401)
    await expect(flow.refresh(second.refresh_token ?? '')).rejects.toMatchObject(refused)
  })

  test('of many requests at the same moment leaves no valid tokens', async () => {
    const { refresh_token: token = '' } = await flow.tokens()
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => flow.refresh(token)))
    const got = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
    expect(got.length).toBeLessThanOrEqual(1)
    for (const { access_token } of got) expect((await use(access_token)).status).toBe(401)
  })

  test('is refused after sixty renewals within an hour, which uses nothing up', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    onTestFinished(() => void vi.useRealTimers())
    let tokens = await flow.tokens()
    for (let renewal = 0; renewal < 60; renewal++)
      tokens = await flow.refresh(tokens.refresh_token ?? '')
    const asked = () =>
      fetch(flow.as.token_endpoint ?? '', {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: tokens.refresh_token ?? '',
          client_id: flow.client.client_id,
        }),
      })
    for (const _ of [1, 2, 3]) {
      const answer = await asked()
      expect(answer.status).toBe(429)
      expect(answer.headers.get('retry-after')).toBe('60')
      expect(await answer.json()).toMatchObject({ error: 'temporarily_unavailable' })
    }
    expect((await use(tokens.access_token)).status).toBe(200)
    // Another grant of the same client still works.
    await flow.refresh((await flow.tokens()).refresh_token ?? '')
    vi.setSystemTime(Date.now() + 60_000)
    const { access_token } = await flow.refresh(tokens.refresh_token ?? '')
    expect((await use(access_token)).status).toBe(200)
  })

  test('that asks for another resource is not used up', async () => {
    const { refresh_token: token = '' } = await flow.tokens()
    const wrong = await fetch(flow.as.token_endpoint ?? '', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: flow.client.client_id,
        resource: 'https://other.example.com/mcp',
      }),
    })
    expect(await wrong.json()).toMatchObject({ error: 'invalid_target' })
    const { access_token } = await flow.refresh(token)
    expect((await use(access_token)).status).toBe(200)
  })

  describe('in a file', () => {
    let folder: ReturnType<typeof scratchFolder>
    let own: OauthServer
    let ownFlow: OauthFlow
    beforeAll(async () => {
      folder = scratchFolder()
      own = await startOauthServer({ texts: { 'state-dir': folder.path } })
      ownFlow = await registeredClient(own)
    })
    afterAll(async () => {
      await own[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    })
    const change = <T>(work: (db: DatabaseSync) => T) => {
      using db = new DatabaseSync(join(folder.path, 'sandbox-records.db'))
      return work(db)
    }
    const ofTokens = "kind LIKE 'oauth%token' OR kind = 'oauth_used'"

    test('leaves no record, however often the grant is renewed; the oldest still ends it', async () => {
      const count = () =>
        change((db) => db.prepare(`SELECT count(*) AS count FROM records WHERE ${ofTokens}`).get())
      const first = await ownFlow.tokens()
      const before = count()
      let tokens = await ownFlow.refresh(first.refresh_token ?? '')
      for (let renewal = 0; renewal < 20; renewal++)
        tokens = await ownFlow.refresh(tokens.refresh_token ?? '')
      expect(count()).toEqual(before)
      await expect(ownFlow.refresh(first.refresh_token ?? '')).rejects.toMatchObject(refused)
      await expect(ownFlow.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(refused)
      expect((await callTool(own.mcp, 'list_agents', bearer(tokens.access_token))).status).toBe(401)
    })

    test('needs no room: others cannot take it', async () => {
      const { refresh_token: token = '' } = await ownFlow.tokens()
      change((db) =>
        db.exec(`
          WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000)
          INSERT INTO records SELECT kind, 'x' || i, 'of others', '', ${Date.now() + 3_600_000}
          FROM (SELECT 'oauth_access_token' AS kind UNION SELECT 'oauth_refresh_token'), n`),
      )
      const { access_token } = await ownFlow.refresh(token)
      expect((await callTool(own.mcp, 'list_agents', bearer(access_token))).status).toBe(200)
      // A new grant works as well.
      await ownFlow.tokens()
    })
  })

  test('is of no use to another client', async () => {
    const { refresh_token: token = '', access_token } = await flow.tokens()
    const other = await registeredClient(server)
    await expect(other.refresh(token)).rejects.toMatchObject(refused)
    expect((await use(access_token)).status).toBe(200)
  })
})

describe('revoking', () => {
  test.each(['access_token', 'refresh_token'] as const)('the %s ends the grant', async (which) => {
    const tokens = await flow.tokens()
    await flow.revoke(tokens[which] ?? '')
    expect((await use(tokens.access_token)).status).toBe(401)
    await expect(flow.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject(refused)
  })

  test('ends the open streams of the access token', async () => {
    const { access_token: token } = await flow.tokens()
    const revision = '2026-07-28'
    const stream = await fetch(server.mcp, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': revision,
        'mcp-method': 'subscriptions/listen',
        ...bearer(token),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: {
          notifications: { resourceSubscriptions: ['voice-agents://account'] },
          _meta: {
            'io.modelcontextprotocol/protocolVersion': revision,
            'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      }),
    })
    expect(stream.status).toBe(200)
    const whole = stream.text()
    const isOpen = Symbol('open')
    const within = (ms: number) =>
      Promise.race([whole, new Promise((resolve) => setTimeout(resolve, ms, isOpen))])
    // Longer than the interval of the token check, so a valid token keeps the stream open.
    expect(await within(6000)).toBe(isOpen)
    await flow.revoke(token)
    expect(await within(20_000)).toMatch(/acknowledged/)
  }, 40_000)

  test('a token of another client changes nothing', async () => {
    const { access_token, refresh_token = '' } = await flow.tokens()
    const other = await registeredClient(server)
    await other.revoke(access_token)
    await other.revoke(refresh_token)
    expect((await use(access_token)).status).toBe(200)
  })
})

/**
 * The token with one changed bit at each position, then with two, as far as a header allows the
 * character.
 */
function* changedTokens(token: string): Generator<string> {
  const bits = token.length * 8
  const flipped = (...places: number[]) => {
    const bytes = Buffer.from(token)
    for (const place of places) {
      const at = Math.floor(place / 8)
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (place % 8))
    }
    return bytes.toString('latin1')
  }
  const isSendable = (text: string) => /^[\x21-\x7e]+$/.test(text)
  for (let bit = 0; bit < bits; bit++) if (isSendable(flipped(bit))) yield flipped(bit)
  for (let bit = 0; bit < bits; bit++) {
    for (const other of [bit + 9, bit + 90]) {
      if (other < bits && isSendable(flipped(bit, other))) yield flipped(bit, other)
    }
  }
}

describe('an access token', () => {
  test('that was changed by a bit or more is refused with the challenge, and is never a key', async () => {
    const { access_token: token } = await flow.tokens()
    const changed = [...changedTokens(token)].slice(0, 1000)
    expect(changed).toHaveLength(1000)
    const statuses = new Map<number, number>()
    for (const one of changed) {
      const answer = await use(one)
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1)
      expect(answer.headers.get('www-authenticate'), one).toMatch(/error="invalid_token"/)
    }
    expect([...statuses]).toEqual([[401, 1000]])
    expect((await use(token)).status).toBe(200)
  })

  test('expires after an hour, with the challenge; then it is refreshed', async () => {
    const { access_token: token, refresh_token = '' } = await flow.tokens()
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 59 * 60_000 })
    onTestFinished(() => void vi.useRealTimers())
    expect((await use(token)).status).toBe(200)
    vi.setSystemTime(Date.now() + 2 * 60_000)
    const answer = await use(token)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
    const { access_token: next } = await flow.refresh(refresh_token)
    expect((await use(next)).status).toBe(200)
  })

  test.each(['refresh', 'code'])('is not what a %s of this server is', async (which) => {
    const code = await flow.code()
    const text = which === 'code' ? code.code : ((await flow.exchange(code)).refresh_token ?? '')
    const answer = await use(text)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toMatch(/error="invalid_token"/)
    const asKey = await callTool(server.mcp, 'list_agents', { 'x-api-key': text })
    expect(asKey.status).toBe(400)
  })

  test('is not taken as a key, nor beside one', async () => {
    const { access_token: token } = await flow.tokens()
    const as = (headers: Record<string, string>) => callTool(server.mcp, 'list_agents', headers)
    expect((await as({ 'x-api-key': token })).status).toBe(400)
    expect((await as({ 'x-api-key': 'sandbox-key', ...bearer(token) })).status).toBe(400)
  })
})

test('API keys work beside tokens, in both headers; without either there is a challenge', async () => {
  for (const headers of [{ 'x-api-key': 'sandbox-key' }, bearer('sandbox-key')])
    expect((await callTool(server.mcp, 'list_agents', headers)).status).toBe(200)
  const answer = await callTool(server.mcp, 'list_agents', {})
  expect(answer.status).toBe(401)
  const challenge = answer.headers.get('www-authenticate') ?? ''
  expect(challenge).not.toMatch(/error=/)
  const metadataUrl = /resource_metadata="([^"]+)"/.exec(challenge)?.[1] ?? ''
  expect(await (await fetch(metadataUrl)).json()).toMatchObject({
    resource: `${server.url}/mcp`,
    authorization_servers: [server.url],
    scopes_supported: ['read', 'write', 'call'],
  })
})

describe('a client that asks wrongly', () => {
  const ask = async (more: Record<string, string | null>) => {
    const { url } = await flow.authorizationUrl(more)
    return fetch(url, { redirect: 'manual' })
  }
  test.each([
    ['no challenge', { code_challenge: null, code_challenge_method: null }, 'invalid_request'],
    ['a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
    ['a token at once', { response_type: 'token' }, 'unsupported_response_type'],
    ['an answer by a form', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['an answer in the fragment', { response_mode: 'fragment' }, 'unsupported_response_mode'],
    ['no page', { prompt: 'none' }, 'interaction_required'],
  ])(
    'with %s is sent back with the error if the operator gave it; of others a page shows it',
    async (_, more, error) => {
      const answer = await ask({ ...more, client_id: givenClient.client_id })
      expect(answer.status).toBe(303)
      const target = new URL(answer.headers.get('location') ?? '')
      expect(target.href.startsWith(flow.redirectUri)).toBe(true)
      expect(target.hash).toBe('')
      expect(target.searchParams.get('error')).toBe(error)
      expect(target.searchParams.get('iss')).toBe(server.url)
      for (const client_id of [flow.client.client_id, documentUrl]) {
        const shown = await ask({ ...more, client_id })
        expect(shown.status).toBe(400)
        expect(shown.headers.get('location')).toBeNull()
        const text = await shown.text()
        expect(text).toContain('data-problem="invalid"')
        expect(text).not.toMatch(/http-equiv|href=|<form/)
      }
    },
  )

  test('for what only OpenID Connect has is asked for the rest', async () => {
    const more = { nonce: 'n', max_age: '0', id_token_hint: 'x', prompt: 'select_account' }
    const answer = await ask({ scope: 'openid read', ...more })
    expect(answer.headers.get('location')).toMatch(/^\/oauth\/interaction\//)
  })

  test.each([
    'http://127.0.0.1:99999/callback',
    'http://127.0.0.1:8123/other',
    'http://127.0.0.1:8123/callback/',
    'http://127.0.0.1:8123/callback?more=1',
    'http://localhost:8123/callback',
    'https://evil.example.com/callback',
    'http://127.0.0.1:8123@evil.example.com/callback',
    'http://127.0.0.1.evil.example.com:8123/callback',
  ])('for the address %s is not sent there', async (redirect_uri) => {
    const answer = await ask({ redirect_uri })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.get('content-security-policy')).toMatch(/default-src 'none'/)
  })

  test('for its own address on another port of this computer is', async () => {
    const answer = await ask({ redirect_uri: 'http://127.0.0.1:65000/callback' })
    expect(answer.headers.get('location')).toMatch(/\/oauth\/interaction\//)
  })

  test('and is not known gets a page', async () => {
    const answer = await ask({ client_id: 'unknown' })
    expect(answer.status).toBe(400)
    expect(await answer.text()).toMatch(/<html/)
  })
})

test('another resource gets no token for a code either', async () => {
  const code = await flow.code()
  await expect(
    flow.exchange(code, { resource: 'https://other.example.com/mcp' }),
  ).rejects.toMatchObject({
    error: 'invalid_target',
  })
})

test('a stranger who registers again and again has to wait', async () => {
  await using own = await startOauthServer()
  const register = () =>
    fetch(`${own.url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://a.example.com/callback'] }),
    })
  const answers = await Promise.all(Array.from({ length: 45 }, register))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201, 429]))
  const answer = answers.find(({ status }) => status === 429)
  expect(Number(answer?.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await answer?.json()).toMatchObject({ error: 'temporarily_unavailable' })
})
