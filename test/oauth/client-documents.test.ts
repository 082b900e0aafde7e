import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { startDocumentServer, trusted } from '../harness/client-document-server.ts'
import { startConnectProxy } from '../harness/connect-proxy.ts'
import { OauthFlow, registeredClient } from '../harness/oauth-flow.ts'
import { startOauthServer } from '../harness/oauth-server.ts'
import { UserAgent } from '../harness/oauth-user-agent.ts'
import { freePort, scratchFolder, startHttpProgram } from '../harness/program.ts'

/*
 * Clients with metadata documents, with the built program. It fetches the documents over a real
 * connection, through the proxy of its environment.
 */

const documentUrl = 'https://platform.example/oauth/client.json'
const redirectUri = 'https://platform.example/callback'
const document = {
  client_id: documentUrl,
  client_name: 'Example Chat',
  redirect_uris: [redirectUri],
  token_endpoint_auth_method: 'none',
}

const answerWith =
  (body: object): RequestListener =>
  (_, response) =>
    void response.setHeader('content-type', 'application/json').end(JSON.stringify(body))

/** A program with OAuth on its sandbox, and a web server that it reaches through a proxy. */
async function start(answer: RequestListener) {
  const folder = scratchFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const authority = join(folder.path, 'authority.pem')
  writeFileSync(authority, trusted)
  const web = await startDocumentServer(answer)
  onTestFinished(() => web[Symbol.asyncDispose]())
  const proxy = await startConnectProxy(web.port)
  onTestFinished(() => proxy[Symbol.asyncDispose]())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const program = await startHttpProgram(
    {
      HTTPS_PROXY: proxy.url.href,
      NODE_EXTRA_CA_CERTS: authority,
      VOICE_AGENT_STATE_DIR: ':memory:',
    },
    ['--oauth', '--public-url', url, '--port', String(port), '--trusted-proxies', '127.0.0.1'],
  )
  onTestFinished(() => program[Symbol.asyncDispose]())
  const queryOf = (clientId: string, redirect = redirectUri) =>
    new URLSearchParams({
      client_id: clientId,
      redirect_uri: redirect,
      response_type: 'code',
      scope: 'read',
      code_challenge: createHash('sha256').update('a').digest('base64url'),
      code_challenge_method: 'S256',
    })
  /** The page that a user gets from the client's authorization request. */
  const ask = async (clientId: string, redirect = redirectUri) => {
    const person = new UserAgent(url)
    await person.open(`/oauth/authorize?${queryOf(clientId, redirect)}`)
    const { status, text = '' } = person.page ?? {}
    const problem = /data-problem="(\w+)"/.exec(text)?.[1]
    const words = text
      .replaceAll('<wbr>', '')
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
    return { status, problem, text: words }
  }
  /** Status of an authorization request from this IP address; 303 redirects to the page. */
  const statusFrom = async (address: string, clientId: string) => {
    const headers = { 'x-forwarded-for': address }
    const asked = `${url}/oauth/authorize?${queryOf(clientId)}`
    const response = await fetch(asked, { headers, redirect: 'manual' })
    await response.text()
    return response.status
  }
  /** Posts a form to an OAuth endpoint. */
  const post = async (endpoint: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    const response = await fetch(`${url}/oauth/${endpoint}`, { method: 'POST', body })
    return { status: response.status, body: await response.text() }
  }
  return { ask, statusFrom, post, url, web, proxy }
}

describe('a client that publishes a document', () => {
  test('is named with its host; the document is read once', async () => {
    const { ask, web, proxy } = await start(answerWith(document))
    for (const _ of [1, 2, 3]) {
      const { status, text } = await ask(documentUrl)
      expect(status).toBe(200)
      expect(text).toContain('platform.example (verified)')
      expect(text).toContain('Example Chat')
    }
    expect(web.asked).toEqual(['/oauth/client.json'])
    expect(proxy.asked).toMatchObject([{ target: 'platform.example:443' }])
  })

  test('may not have people sent elsewhere than the document says', async () => {
    const { ask } = await start(answerWith(document))
    const { status, problem } = await ask(documentUrl, 'https://attacker.example/callback')
    expect([status, problem]).toEqual([400, 'invalid'])
  })

  test('is refused with a flaw in the document', async () => {
    const { ask } = await start(({ url = '' }, response) => {
      const client_id = `https://platform.example${url}`
      const body = { ...document, client_id, ...flaws[url] }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    })
    expect((await ask('https://platform.example/without-flaw')).status).toBe(200)
    for (const [path, flaw] of Object.entries(flaws)) {
      const redirect = flaw.redirect_uris?.[0] ?? redirectUri
      const { status, problem } = await ask(`https://platform.example${path}`, redirect)
      expect([status, problem], path).toEqual([400, 'invalid'])
    }
  })

  test('is not read at an address that is not public', async () => {
    const { ask, proxy } = await start(answerWith(document))
    for (const host of [
      '127.0.0.1',
      '[::1]',
      '169.254.169.254',
      'localhost',
      'metadata.google.internal',
    ]) {
      const { status, problem } = await ask(`https://${host}/client.json`)
      expect([status, problem], host).toEqual([400, 'invalid'])
    }
    expect(proxy.asked).toEqual([])
  })

  test('that cannot be read is asked for once, however often it is wanted', async () => {
    const { ask, web } = await start((_, response) => void response.writeHead(404).end())
    for (const _ of [1, 2, 3]) expect((await ask(documentUrl)).status).toBe(400)
    expect(web.asked).toEqual(['/oauth/client.json'])
  })

  test('gets in while another network has slow documents fetched', async () => {
    const { statusFrom, web } = await start((request, response) => {
      if (request.url === '/oauth/client.json') answerWith(document)(request, response)
    })
    const slow = Array.from({ length: 40 }, (_, index) =>
      statusFrom('203.0.113.1', `https://platform.example/slow-${index}`),
    )
    await expect.poll(() => web.asked.length).toBeGreaterThan(3)
    expect(await statusFrom('203.0.113.2', documentUrl)).toBe(303)
    const statuses = await Promise.all(slow)
    expect(statuses.filter((status) => status === 429)).toHaveLength(36)
    expect(web.asked).toHaveLength(5)
  })

  test('is not fetched because a stranger names it to the token or revocation endpoint', async () => {
    const { post, url, web, proxy } = await start(answerWith(document))
    const keysUrl = 'https://platform.example/keys.json'
    const registered = await fetch(`${url}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: 'private_key_jwt',
        jwks_uri: keysUrl,
      }),
    })
    const { client_id } = z.object({ client_id: z.string() }).parse(await registered.json())
    const proofs = [
      { client_id: documentUrl },
      { client_id: documentUrl.replace('https', 'HTTPS') },
      {
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion: unsignedAssertion(client_id, url),
      },
    ]
    for (const proof of proofs) {
      const unknown = [
        { grant_type: 'authorization_code', code: 'a', redirect_uri: redirectUri },
        { grant_type: 'refresh_token', refresh_token: 'voice-agent-mcp-refresh-a' },
      ]
      for (const fields of unknown) {
        const { status, body } = await post('token', { ...fields, ...proof })
        expect({ status, ...JSON.parse(body) }).toMatchObject({
          status: 400,
          error: 'invalid_grant',
        })
      }
      expect(await post('revoke', { token: 'a', ...proof })).toEqual({ status: 200, body: '' })
    }
    expect(web.asked).toEqual([])
    expect(proxy.asked).toEqual([])
  })
})

/** A client assertion with an invalid signature. */
function unsignedAssertion(clientId: string, url: string): string {
  const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: clientId, sub: clientId, aud: url, jti: 'a', iat: now, exp: now + 60 }
  return `${encoded({ alg: 'ES256', kid: 'a' })}.${encoded(claims)}.${'a'.repeat(86)}`
}

test('a client that publishes a document is fetched for a code or token of its own, and hears of a cancel', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const local = { ...document, redirect_uris: ['http://127.0.0.1:8123/callback'] }
  const server = await startOauthServer({ documents: { [documentUrl]: local } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const registered = await registeredClient(server)
  const flow = new OauthFlow(registered.as, { ...registered.client, client_id: documentUrl })
  const person = new UserAgent(server.url)
  await person.open((await flow.authorizationUrl()).url)
  const cancelled = await person.answer('cancel')
  expect(cancelled?.searchParams.get('error')).toBe('access_denied')
  const { refresh_token = '' } = await flow.tokens()
  const fetched = server.fetched.length
  vi.advanceTimersByTime(120_000)
  await expect(flow.refresh('voice-agent-mcp-refresh-a')).rejects.toMatchObject({
    error: 'invalid_grant',
  })
  expect(server.fetched).toHaveLength(fetched)
  expect(await flow.refresh(refresh_token)).toHaveProperty('access_token')
  expect(server.fetched).toHaveLength(fetched + 1)
})

test('a document that went away while a person decides is no defect, and the page says so', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const documents: Record<string, object> = {
    [documentUrl]: { ...document, redirect_uris: ['http://127.0.0.1:8123/callback'] },
  }
  const server = await startOauthServer({ documents })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const registered = await registeredClient(server)
  const flow = new OauthFlow(registered.as, { ...registered.client, client_id: documentUrl })
  const person = new UserAgent(server.url)
  await person.open((await flow.authorizationUrl()).url)
  delete documents[documentUrl]
  vi.advanceTimersByTime(120_000)
  await person.answer('cancel')
  expect(person.page?.status).toBe(400)
  expect(person.page?.text).toContain('data-problem="invalid"')
  expect(server.errors).toEqual([])
})

/** Invalid changes of the metadata document, by its path. */
const flaws: Readonly<Record<string, Partial<typeof document> & { client_secret?: string }>> = {
  '/names-another-client': { client_id: 'https://platform.example/other.json' },
  '/has-a-secret': { client_secret: 'a-secret-that-everybody-can-read' },
  '/has-no-redirect': { redirect_uris: [] },
  '/would-run-code': { redirect_uris: ['javascript:alert(1)'] },
  '/is-too-large': { client_name: 'a'.repeat(20_000) },
}
