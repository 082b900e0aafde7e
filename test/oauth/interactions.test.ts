import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { envelope, type FakePlatform, json, startFakePlatform } from '../harness/fake-platform.ts'
import { bearer, callTool, type OauthFlow, registeredClient } from '../harness/oauth-flow.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'
import { UserAgent } from '../harness/oauth-user-agent.ts'
import { scratchFolder } from '../harness/program.ts'

const key = 'key-of-a-person'
const replies: Record<string, readonly [number, unknown]> = {
  [key]: [200, { id: 'account-1', name: 'Harbour Clinic' }],
  'key-without-access': [403, envelope('permission_denied')],
  'key-of-a-bad-day': [502, envelope('internal_error')],
}

let platform: FakePlatform
let server: OauthServer
let flow: OauthFlow
beforeAll(async () => {
  platform = await startFakePlatform((request, response) => {
    const found = replies[String(request.headers['x-api-key'])]
    const [status, body] = found ?? [401, envelope('authentication_error')]
    if (status === 200 && !request.url.endsWith('/current'))
      return json(response, 200, { items: [], total: 0 })
    json(response, status, body)
  })
  server = await startOauthServer({ texts: { 'base-url': platform.url } })
  flow = await registeredClient(server)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

/** A user on the first page of a new authorization request. */
async function arrived(): Promise<UserAgent> {
  const person = new UserAgent(server.url)
  await person.open((await flow.authorizationUrl()).url)
  return person
}

const keysSeen = () => platform.seen.map(({ headers }) => headers['x-api-key'])

describe('the key', () => {
  test('is asked for, checked on the platform, and then the account is shown', async () => {
    const person = await arrived()
    expect(person.page?.text).toContain('name="key"')
    await person.answer('continue', { key: `  ${key} ` })
    expect(person.page?.status).toBe(200)
    expect(person.page?.text).toMatch(/Harbour Clinic/)
    expect(person.page?.text).not.toContain(key)
    // Reloading shows the same page without a request to the platform.
    const before = platform.seen.length
    await person.open(person.page?.url ?? '')
    expect(person.page?.text).toMatch(/Harbour Clinic/)
    expect(platform.seen).toHaveLength(before)
    await person.answer('other_key')
    expect(person.page?.text).toContain('name="key"')
  })

  test.each([
    ['', 422],
    ['a wrong key', 422],
    ['wrong-key', 422],
    ['key-without-access', 403],
    ['key-of-a-bad-day', 503],
  ])('%j is refused, and can be corrected', async (text, status) => {
    const person = await arrived()
    expect(await person.answer('continue', { key: text })).toBeUndefined()
    expect(person.page?.status).toBe(status)
    expect(person.page?.text).toMatch(/role="alert"/)
    await person.answer('continue', { key })
    expect(person.page?.text).toMatch(/Harbour Clinic/)
  })

  test('that is a token of this server never reaches the platform', async () => {
    const { access_token, refresh_token } = await tokens()
    const person = await arrived()
    for (const text of [access_token, refresh_token ?? '', 'voice-agent-mcp-local-x']) {
      await person.answer('continue', { key: text })
      expect(person.page?.status).toBe(422)
      expect(keysSeen()).not.toContain(text)
    }
  })

  test('cannot be guessed: after ten tries there is a wait', async () => {
    const person = await arrived()
    for (let attempt = 0; attempt < 10; attempt++)
      await person.answer('continue', { key: `guess-${attempt}` })
    const before = platform.seen.length
    await person.answer('continue', { key })
    expect(person.page?.status).toBe(429)
    expect(Number(person.page?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(platform.seen).toHaveLength(before)
  })
})

async function tokens(scopes = ['read', 'write', 'call']) {
  const { url, verifier } = await flow.authorizationUrl()
  const person = new UserAgent(server.url)
  await person.open(url)
  await person.answer('continue', { key })
  const sentTo = await person.answer('allow', { scope: scopes })
  const code = sentTo?.searchParams.get('code') ?? ''
  const body = {
    grant_type: 'authorization_code',
    client_id: flow.client.client_id,
    redirect_uri: flow.redirectUri,
    code,
    code_verifier: verifier,
  }
  const answer = await fetch(`${server.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams(body),
  })
  return (await answer.json()) as { access_token: string; refresh_token?: string; scope: string }
}

describe('the answer', () => {
  test('"cancel" sends the person back without a code, from either page', async () => {
    for (const answers of [[], ['continue']]) {
      const person = await arrived()
      for (const answer of answers) await person.answer(answer, { key })
      const sentTo = await person.answer('cancel')
      expect(sentTo?.searchParams.get('error')).toBe('access_denied')
      expect(sentTo?.searchParams.get('state')).toBe('state of the client')
      expect(sentTo?.searchParams.get('iss')).toBe(server.url)
    }
  })

  test('counts once, however often the form is sent', async () => {
    const person = await arrived()
    await person.answer('continue', { key })
    const page = person.page
    const first = await person.answer('allow')
    expect(first?.searchParams.get('code')).toMatch(/^voice-agent-mcp-code-/)
    person.page = page
    expect(await person.answer('allow')).toBeUndefined()
    expect(person.page?.status).toBe(409)
    expect(person.page?.text).toMatch(/already answered/)
  })

  test('sent twice at the same moment gives one code at most', async () => {
    const person = await arrived()
    await person.answer('continue', { key })
    const sent = await Promise.all([person.answer('allow'), person.answer('allow')])
    const codes = new Set(sent.flatMap((url) => url?.searchParams.get('code') ?? []))
    expect(codes.size).toBe(1)
  })

  test('that finds no room in the state can be given again', async () => {
    using folder = scratchFolder()
    await using own = await startOauthServer({ texts: { 'state-dir': folder.path } })
    const ownFlow = await registeredClient(own)
    const person = new UserAgent(own.url)
    await person.open((await ownFlow.authorizationUrl()).url)
    await person.answer('sandbox')
    const page = person.page?.url ?? ''
    const setCount = (change: string) => {
      using db = new DatabaseSync(join(folder.path, 'sandbox-records.db'))
      db.exec(`UPDATE record_counts SET count = count ${change} WHERE kind = 'oauth_key'`)
    }
    setCount('+ 200000')
    expect(await person.answer('allow')).toBeUndefined()
    expect(person.page?.status).toBe(503)
    setCount('- 200000')
    await person.open(page)
    expect((await person.answer('allow'))?.searchParams.get('code')).toBeTruthy()
    expect(own.errors).toEqual([])
  })

  test('with nothing ticked is asked for again', async () => {
    const person = await arrived()
    await person.answer('continue', { key })
    expect(await person.answer('allow', { scope: [] })).toBeUndefined()
    expect(person.page?.text).toMatch(/role="alert"/)
  })

  test.each([
    ['from another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example.com' }],
    ['from a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['with another origin', { origin: 'https://evil.example.com' }],
    ['with no origin at all', {}],
  ])('%s is refused', async (_, headers) => {
    const person = await arrived()
    await person.answer('continue', { key }, headers)
    expect(person.page?.status).toBe(403)
    expect(person.page?.text).not.toMatch(/Harbour/)
  })

  test('with the form of another request is refused', async () => {
    const [one, other] = [await arrived(), await arrived()]
    await one.answer('continue', { key, form_token: other.form.body.get('form_token') ?? '' })
    expect(one.page?.status).toBe(403)
  })

  test('of a browser without the cookie of the request is refused', async () => {
    const one = await arrived()
    const stranger = new UserAgent(server.url)
    stranger.page = one.page
    await stranger.answer('continue', { key })
    expect(stranger.page?.status).toBe(410)
    // An expired request can be started again in this browser, as a new request.
    const link = /href="([^"]+)"/.exec(stranger.page?.text ?? '')?.[1] ?? ''
    await stranger.open(link.replaceAll('&#38;', '&'))
    expect(stranger.page?.text).toContain('name="key"')
    await stranger.answer('continue', { key })
    const sentTo = await stranger.answer('allow')
    expect(sentTo?.searchParams.get('state')).toBe('state of the client')
    expect(sentTo?.searchParams.get('code')).toBeTruthy()
  })
})

describe('scopes', () => {
  const listed = async (token: string) => {
    const answer = await fetch(server.mcp, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...bearer(token),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    })
    const { result } = (await answer.json()) as { result: { tools: { name: string }[] } }
    return result.tools.map(({ name }) => name)
  }

  test('narrow the tools that are listed', async () => {
    const all = await listed((await tokens()).access_token)
    const read = await listed((await tokens(['read'])).access_token)
    const calls = await listed((await tokens(['read', 'call'])).access_token)
    expect(all.length).toBeGreaterThan(30)
    expect(read).toContain('list_agents')
    expect(read).not.toContain('create_agent')
    // An unticked box for calls does not hide place_call: calling it asks for more consent.
    expect(read).toContain('place_call')
    expect(calls).toContain('place_call')
    expect(calls).not.toContain('create_agent')
  })

  test('narrow the tools that can be called: the challenge names what is needed', async () => {
    const { access_token: changing } = await tokens(['read', 'write'])
    const { access_token: token, scope } = await tokens(['read'])
    expect(scope).toBe('read')
    expect((await callTool(server.mcp, 'list_agents', bearer(token))).status).toBe(200)
    const before = platform.seen.length
    for (const [tool, needed] of [
      ['create_agent', 'read write'],
      ['place_call', 'read call'],
      ['archive_agent', 'read write'],
    ] as const) {
      const answer = await callTool(server.mcp, tool, bearer(token))
      expect(answer.status).toBe(403)
      const challenge = answer.headers.get('www-authenticate')
      expect(challenge).toMatch(/error="insufficient_scope"/)
      expect(challenge).toContain(`scope="${needed}"`)
      expect(challenge).toMatch(/resource_metadata="/)
    }
    // Clients of the 2025 revisions request exactly the scopes of the challenge, so it includes the
    // granted ones.
    const answer = await callTool(server.mcp, 'place_call', bearer(changing))
    expect(answer.headers.get('www-authenticate')).toContain('scope="read write call"')
    expect(platform.seen).toHaveLength(before)
  })

  test('never have calls ticked, whatever the client asks for', async () => {
    for (const scope of ['read write call', 'read call', 'call']) {
      const person = new UserAgent(server.url)
      await person.open((await flow.authorizationUrl({ scope })).url)
      await person.answer('continue', { key })
      expect(person.page?.text).toContain('value="call"')
      const ticked = scope.split(' ').filter((one) => one !== 'call')
      expect(person.form.body.getAll('scope')).toEqual(ticked)
    }
  })

  test("have changes ticked for a program on the person's machine, not for a website that registered itself", async () => {
    const site = 'https://chat.example/callback'
    const asking = await registeredClient(server, [site])
    for (const [redirect_uri, ticked] of [
      [asking.redirectUri, ['read', 'write']],
      [site, ['read']],
    ] as const) {
      const person = new UserAgent(server.url)
      await person.open((await asking.authorizationUrl({ redirect_uri })).url)
      await person.answer('continue', { key })
      expect(person.page?.text).toContain('value="write"')
      expect(person.form.body.getAll('scope')).toEqual(ticked)
    }
  })

  test('cannot be widened by a refresh', async () => {
    const { refresh_token: token = '' } = await tokens(['read'])
    const body = { grant_type: 'refresh_token', refresh_token: token, scope: 'read write' }
    const answer = await fetch(`${server.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({ ...body, client_id: flow.client.client_id }),
    })
    expect(await answer.json()).toMatchObject({ error: 'invalid_scope', scope: 'write' })
  })
})

test('requests for access are limited by the address of the client, which a proxy tells', {
  timeout: 60_000,
}, async () => {
  await using limited = await startOauthServer({ texts: { 'trusted-proxies': '127.0.0.1' } })
  const asking = await registeredClient(limited)
  const { url } = await asking.authorizationUrl()
  const statusFrom = async (address: string) => {
    const headers = { 'x-forwarded-for': `198.51.100.9, ${address}` }
    const response = await fetch(url, { headers, redirect: 'manual' })
    const body = await response.text()
    return response.status === 303
      ? 303
      : `${response.status} ${/data-problem="(\w+)"/.exec(body)?.[1]}`
  }
  const statuses = new Set<string | number>()
  // Meanwhile the rate limit recovers by five requests per second.
  for (let count = 0; count < 100 && statuses.size < 2; count++) {
    const some = Array.from({ length: 20 }, () => statusFrom('203.0.113.1'))
    for (const status of await Promise.all(some)) statuses.add(status)
  }
  expect([...statuses]).toEqual([303, '429 too_many'])
  expect(await statusFrom('203.0.113.2')).toBe(303)
})

test('the platform gets the key of the grant and never a token, the client tokens and never the key', async () => {
  const { access_token: token, refresh_token = '' } = await tokens()
  for (const text of [token, refresh_token]) {
    const [, content = ''] = /^voice-agent-mcp-\w+?-(.+)$/.exec(text) ?? []
    expect(text).not.toContain(key)
    expect(Buffer.from(content, 'base64url').toString('latin1')).not.toContain(key)
  }
  await callTool(server.mcp, 'list_agents', bearer(token))
  expect(keysSeen()).toContain(key)
  for (const { headers, url, body } of platform.seen)
    expect(JSON.stringify([headers, url, body])).not.toContain('voice-agent-mcp-access')
})

test('the audit trail names the client whose token was used', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'audit.jsonl')
  await using audited = await startOauthServer({ texts: { 'audit-log': file } })
  const asking = await registeredClient(audited)
  const { access_token: token } = await asking.tokens()
  const args = { name: 'Branch of the test' }
  const made = await callTool(audited.mcp, 'create_subaccount', bearer(token), args)
  expect(await made.text()).toContain('Branch of the test')
  const isDone = async () => {
    const lines = (await readFile(file, 'utf8')).trim().split('\n')
    const last = JSON.parse(lines.at(-1) ?? '')
    expect(last.outcome).toBe('done')
    return last
  }
  const entry = await vi.waitFor(isDone, { timeout: 10_000 })
  expect(entry).toMatchObject({
    tool: 'create_subaccount',
    oauth_client: asking.client.client_id,
    transport: 'http',
  })
})
