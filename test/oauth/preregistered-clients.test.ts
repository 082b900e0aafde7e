import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startOauthServer } from '../harness/oauth-server.ts'
import { UserAgent } from '../harness/oauth-user-agent.ts'
import { scratchFolder } from '../harness/program.ts'

const redirectUri = 'https://assistant.example/oauth/callback'
const secret = 'a-secret-of-32-random-characters'
const verifier = 'a-verifier-that-is-as-long-as-it-has-to-be-at-least'

/** Status of the token endpoint for a preregistered client, after a user gave consent. */
async function tokenStatus(
  given: { client_secret?: string; token_endpoint_auth_method?: string },
  request: { body?: Record<string, string>; headers?: Record<string, string> },
): Promise<number> {
  const folder = scratchFolder()
  onTestFinished(() => folder[Symbol.dispose]())
  const file = join(folder.path, 'clients.json')
  const client = { client_id: 'your-assistant', redirect_uris: [redirectUri], ...given }
  writeFileSync(file, JSON.stringify([client]))
  const server = await startOauthServer({ texts: { 'oauth-clients': file } })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const person = new UserAgent(server.url)
  const query = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: redirectUri,
    response_type: 'code',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  await person.open(`/oauth/authorize?${query}`)
  expect(person.page?.text).toMatch(/<dd>[^<]*\boperator\b/)
  await person.answer('sandbox')
  const back = await person.answer('allow')
  const reply = await fetch(`${server.url}/oauth/token`, {
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
  return reply.status
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
