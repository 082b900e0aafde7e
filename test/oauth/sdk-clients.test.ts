import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientKinds } from '../harness/client.ts'
import { connectWithOauth, KeptOauth } from '../harness/oauth-client.ts'
import { allowInSandbox } from '../harness/oauth-person.ts'
import { startOauthServer } from '../harness/oauth-server.ts'
import { scratchFolder } from '../harness/program.ts'

const documentUrl = 'https://client.example.com/oauth/metadata.json'
const documents = {
  [documentUrl]: {
    client_id: documentUrl,
    client_name: 'A client with a document',
    // Without a port: the system picks one.
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  },
}
const given = { client_id: 'given-client', client_secret: 'a-secret-of-the-operator' }

const ways = {
  'by a metadata document': { clientMetadataUrl: documentUrl },
  'by dynamic registration': {},
  'from the operator': { information: given },
}
const cases = clientKinds.flatMap((kind) =>
  Object.entries(ways)
    // Version 1 of the SDK has no metadata documents.
    .filter(([way]) => kind !== 'v1' || way !== 'by a metadata document')
    .map(([way, options]) => [kind, way, options] as const),
)

test('a client of the SDK that needs more asks the person again, for what it has and what it needs', async () => {
  await using server = await startOauthServer()
  const kept = new KeptOauth()
  const kind = 'v2 2026-07-28'
  const client = await connectWithOauth(kind, server.mcp, kept, (url) =>
    allowInSandbox(url, { scope: ['read'] }),
  )
  expect(kept.kept?.scope).toBe('read')
  kept.authorizationUrl = undefined
  const archive = { name: 'create_subaccount', arguments: { name: 'Second' } }
  await expect(client.callTool(archive)).rejects.toThrow()
  const asked = (kept.authorizationUrl as URL | undefined)?.searchParams.get('scope')
  expect(asked?.split(' ')).toEqual(expect.arrayContaining(['read', 'write']))
  await client.close()
})

describe('a client of the SDK gets from discovery to a tool call and a refresh', () => {
  test.each(cases)('%s, known %s', async (kind, _, options) => {
    using folder = scratchFolder()
    const file = join(folder.path, 'clients.json')
    const kept = new KeptOauth(options)
    writeFileSync(file, JSON.stringify([{ ...given, redirect_uris: [kept.redirectUrl] }]))
    await using server = await startOauthServer({ documents, texts: { 'oauth-clients': file } })
    let sentTo: URL | undefined
    const client = await connectWithOauth(kind, server.mcp, kept, async (url) => {
      sentTo = await allowInSandbox(url)
      return sentTo
    })
    expect(sentTo?.searchParams.get('iss')).toBe(server.url)
    expect(sentTo?.href.startsWith(`${kept.redirectUrl}?`)).toBe(true)

    const call = () => client.callTool({ name: 'list_agents', arguments: {} })
    expect((await call()).isError).toBeFalsy()
    const first = kept.kept
    expect(first?.access_token).toMatch(/^voice-agent-mcp-access-/)
    expect(first?.refresh_token).toMatch(/^voice-agent-mcp-refresh-/)

    // A token that has expired: the client is told so, and refreshes by itself.
    if (first)
      kept.kept = { ...first, access_token: first.access_token.replace('access-', 'access-x') }
    expect((await call()).isError).toBeFalsy()
    expect(kept.kept?.access_token).not.toBe(first?.access_token)
    expect(kept.kept?.refresh_token).not.toBe(first?.refresh_token)
    await client.close()
    expect(server.errors).toEqual([])
  })
})
