import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { registeredClient } from '../harness/oauth-flow.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'
import { get as getAt } from '../harness/raw-http.ts'

/** A server behind a proxy that terminates TLS, so its public origin is not its own. */
const publicUrl = 'https://voice.example.com'
let server: OauthServer
beforeAll(async () => {
  server = await startOauthServer({ publicUrl })
})
afterAll(() => server[Symbol.asyncDispose]())

/** A request that arrives from a proxy. A client can forge its headers. */
const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, server.mcp), { headers, redirect: 'manual' })
const forged = {
  'x-forwarded-host': 'evil.example.com',
  'x-forwarded-proto': 'http',
  forwarded: 'host=evil.example.com;proto=http',
}

describe('behind a proxy', () => {
  test.each([{}, forged])(
    'every address is the public one, whatever the headers: %j',
    async (headers) => {
      for (const path of [
        '/.well-known/oauth-authorization-server',
        '/.well-known/openid-configuration',
        '/.well-known/oauth-protected-resource',
        '/.well-known/oauth-protected-resource/mcp',
      ]) {
        const answer = await get(path, headers)
        expect(answer.status).toBe(200)
        expect(answer.headers.get('access-control-allow-origin')).toBe('*')
        const metadata = z.record(z.string(), z.unknown()).parse(await answer.json())
        const addresses = Object.values(metadata)
          .flat()
          .filter((one) => /^https?:/.test(String(one)))
        expect(addresses.length).toBeGreaterThan(1)
        for (const one of addresses)
          expect(String(one)).toMatch(/^https:\/\/voice\.example\.com(\/|$)/)
      }
    },
  )

  test('the metadata names what clients need', async () => {
    const answer = await get('/.well-known/oauth-authorization-server')
    expect(await answer.json()).toMatchObject({
      issuer: publicUrl,
      code_challenge_methods_supported: ['S256'],
      response_types_supported: ['code'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      registration_endpoint: `${publicUrl}/oauth/register`,
      revocation_endpoint: `${publicUrl}/oauth/revoke`,
      scopes_supported: ['read', 'write', 'call', 'offline_access'],
    })
  })

  test.each([{}, forged])('cookies are for https and the request alone: %j', async (headers) => {
    const registered = await fetch(new URL('/oauth/register', server.mcp), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({
        redirect_uris: ['https://client.example.com/cb'],
        token_endpoint_auth_method: 'none',
      }),
    })
    const { client_id } = z.object({ client_id: z.string() }).parse(await registered.json())
    const query = new URLSearchParams({
      client_id,
      response_type: 'code',
      redirect_uri: 'https://client.example.com/cb',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    })
    const answer = await get(`/oauth/authorize?${query}`, headers)
    expect(answer.status).toBe(303)
    const target = new URL(answer.headers.get('location') ?? '', publicUrl)
    expect(target.origin).toBe(publicUrl)
    const cookies = answer.headers.getSetCookie()
    expect(cookies.length).toBeGreaterThan(1)
    for (const cookie of cookies) {
      expect(cookie).toMatch(/^__(Host|Secure)-/)
      expect(cookie).toMatch(/; secure/i)
      expect(cookie).toMatch(/; httponly/i)
      expect(cookie).toMatch(/; samesite=lax/i)
      if (!cookie.startsWith('__Host-')) expect(cookie).toMatch(/; path=\/oauth\//)
    }
  })

  test('a page of another host gets nothing under its own name', async () => {
    const { hostname, port } = new URL(server.mcp)
    const { status } = await getAt(
      hostname,
      new URL(`http://evil.example.com:${port}/oauth/authorize`),
    )
    expect(status).toBe(403)
  })
})

test('a client of the web may register and get tokens from its page (CORS)', async () => {
  await using own = await startOauthServer()
  const flow = await registeredClient(own)
  const origin = 'https://inspector.example.com'
  for (const path of ['/oauth/token', '/oauth/register']) {
    const preflight = await fetch(new URL(path, own.url), {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    })
    expect(preflight.status).toBe(204)
    expect(preflight.headers.get('access-control-allow-origin')).toMatch(
      /^(\*|https:\/\/inspector.*)$/,
    )
  }
  const answer = await fetch(new URL('/oauth/token', own.url), {
    method: 'POST',
    headers: { origin },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: 'none',
      client_id: flow.client.client_id,
    }),
  })
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
  expect(await answer.json()).toMatchObject({ error: 'invalid_grant' })
})
