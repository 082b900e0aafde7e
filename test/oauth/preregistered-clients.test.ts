import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { mcpHttpRequest } from '../harness/mcp-request.ts'
import { startOauthServer } from '../harness/oauth-server.ts'
import { UserAgent } from '../harness/oauth-user-agent.ts'
import { freePort, scratchFolder } from '../harness/program.ts'

const redirectUri = 'https://assistant.example/oauth/callback'
const secret = 'a-secret-of-32-random-characters'
const verifier = 'a-verifier-that-is-as-long-as-it-has-to-be-at-least'

const ourClient = { client_id: 'your-assistant', redirect_uris: [redirectUri] }

/** Starts a server with these preregistered clients. */
async function startWith(
  clients: readonly object[],
  { texts = {}, port }: { texts?: Record<string, string>; port?: number | undefined } = {},
) {
  const folder = scratchFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = join(folder.path, 'clients.json')
  writeFileSync(file, JSON.stringify(clients))
  return await startOauthServer({ texts: { 'oauth-clients': file, ...texts }, port })
}

/** Status of the token endpoint for a preregistered client, after a user gave consent. */
async function tokenStatus(
  given: { client_secret?: string; token_endpoint_auth_method?: string },
  request: TokenRequest,
): Promise<number> {
  const server = await startWith([{ ...ourClient, ...given }])
  onTestFinished(() => server[Symbol.asyncDispose]())
  return (await tokenReply(server, request)).status
}

interface TokenRequest {
  readonly body?: Record<string, string>
  readonly headers?: Record<string, string>
}

/** Reply of the token endpoint for `ourClient`, after a user gave consent. */
async function tokenReply(server: { readonly url: string }, request: TokenRequest) {
  const person = new UserAgent(server.url)
  const query = new URLSearchParams({
    client_id: ourClient.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  await person.open(`/oauth/authorize?${query}`)
  expect(person.page?.text).toMatch(/<dd>[^<]*\boperator\b/)
  await person.answer('sandbox')
  const back = await person.answer('allow')
  return await fetch(`${server.url}/oauth/token`, {
    method: 'POST',
    headers: request.headers ?? {},
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code: back?.searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
      ...request.body,
    }),
  })
}

const basic = { authorization: `Basic ${btoa(`your-assistant:${secret}`)}` }
const named = { client_id: 'your-assistant' }

test('a client of the operator without a secret gets a token', async () => {
  expect(await tokenStatus({}, { body: named })).toBe(200)
})

test('one with a secret sends it as HTTP Basic, unless it is to send it in the body', async () => {
  const client_secret = secret
  expect(await tokenStatus({ client_secret }, { headers: basic })).toBe(200)
  expect(await tokenStatus({ client_secret }, { body: named })).toBe(401)
  const given = { client_secret, token_endpoint_auth_method: 'client_secret_post' }
  expect(await tokenStatus(given, { body: { ...named, client_secret } })).toBe(200)
})

test('a client that was removed keeps its access token, and cannot renew it', async () => {
  using state = scratchFolder()
  const same = { texts: { 'state-dir': state.path }, port: await freePort() }
  let tokens: { access_token?: string; refresh_token?: string } = {}
  {
    await using server = await startWith([ourClient], same)
    tokens = (await (await tokenReply(server, { body: named })).json()) as typeof tokens
  }
  await using server = await startWith([], same)
  const { headers, ...list } = mcpHttpRequest('tools/list')
  const authorization = `Bearer ${tokens.access_token}`
  const listTools = () => fetch(server.mcp, { ...list, headers: { ...headers, authorization } })
  // A kept connection to the first server may break the first request.
  await expect.poll(async () => (await listTools()).status).toBe(200)
  const renewal = await fetch(`${server.url}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      ...named,
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
    }),
  })
  expect(renewal.status).toBe(401)
})
