import { createHash, randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { givenClient, startOauthProgram } from '../harness/oauth-program.ts'
import { allowInSandbox } from '../harness/oauth-user-agent.ts'

test('the built program gives a client a token, which it takes', async () => {
  await using server = await startOauthProgram()
  const code_verifier = randomBytes(32).toString('base64url')
  const asked = {
    response_type: 'code',
    client_id: givenClient.client_id,
    redirect_uri: 'http://127.0.0.1:8123/callback',
    state: 'the-state',
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: server.url,
  }
  const { searchParams } = await allowInSandbox(
    `${server.origin}/oauth/authorize?${new URLSearchParams(asked)}`,
  )
  expect(searchParams.get('state')).toBe('the-state')
  const { client_id, redirect_uri } = asked
  const code = searchParams.get('code') ?? ''
  const grant = { grant_type: 'authorization_code', code, code_verifier, client_id, redirect_uri }
  const body = new URLSearchParams({ ...grant, resource: server.url })
  const answer = await fetch(`${server.origin}/oauth/token`, { method: 'POST', body })
  const { access_token } = Object(await answer.json())
  expect(access_token).toMatch(/^voice-agent-mcp-access-/)
  const listed = await fetch(server.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${access_token}`,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
  })
  expect(listed.status).toBe(200)
})
