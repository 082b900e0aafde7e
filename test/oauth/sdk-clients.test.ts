import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { clientKinds } from '../harness/client.ts'
import { connectAgain, connectWithOauth, KeptOauth } from '../harness/oauth-client.ts'
import { startOauthServer } from '../harness/oauth-server.ts'
import { allowInSandbox, UserAgent } from '../harness/oauth-user-agent.ts'
import { scratchFolder } from '../harness/program.ts'

const documentUrl = 'https://client.example.com/oauth/metadata.json'
const documents = {
  [documentUrl]: {
    client_id: documentUrl,
    client_name: 'A client with a document',
    // Without a port, because the system chooses one.
    redirect_uris: ['http://127.0.0.1/callback'],
    token_endpoint_auth_method: 'none',
  },
}
/** An agent of the sandbox's seed. */
const supportAgent = '00000000-0000-4000-8002-000000000001'

const given = { client_id: 'given-client', client_secret: 'a-secret-of-the-operator' }

const ways = {
  'by a metadata document': { clientMetadataUrl: documentUrl },
  'by dynamic registration': {},
  'from the operator': { information: given },
}
const cases = clientKinds.flatMap((kind) =>
  Object.entries(ways)
    // Version 1 of the SDK does not support metadata documents.
    .filter(([way]) => kind !== 'v1' || way !== 'by a metadata document')
    .map(([way, options]) => [kind, way, options] as const),
)

/** Chooses the sandbox and gives consent, with the boxes as they are or with `scope` ticked. */
const decide = (scope?: string[]) => async (url: URL) => {
  const person = new UserAgent(url.origin)
  await person.open(url)
  await person.answer('sandbox')
  expect(person.form.body.getAll('scope')).toEqual(['read', 'write'])
  const sentTo = await person.answer('allow', scope && { scope })
  if (!sentTo) throw new Error('The person was not sent back')
  return sentTo
}
const everything = ['read', 'write', 'call']
const call = { name: 'place_call', arguments: { type: 'web', agent_id: supportAgent } }

describe('calls, which nobody has ticked', () => {
  test.each(['v2 2025', 'v2 2026-07-28'] as const)(
    'are asked for when a client of the SDK (%s) places one, with what it has',
    async (kind) => {
      await using server = await startOauthServer()
      const kept = new KeptOauth()
      const before = await connectWithOauth(kind, server.mcp, kept, decide())
      expect(kept.authorizationUrl?.searchParams.get('scope')?.split(' ')).toContain('call')
      expect(kept.kept?.scope).toBe('read write')
      kept.authorizationUrl = undefined
      expect((await before.listTools()).tools.map(({ name }) => name)).toContain(call.name)
      await expect(before.callTool(call)).rejects.toThrow()
      await before.close()

      const asked = kept.authorizationUrl as URL | undefined
      expect(asked?.searchParams.get('scope')?.split(' ')).toEqual(
        expect.arrayContaining(everything),
      )
      if (!asked) return
      const sentTo = await decide(everything)(asked)
      const after = await connectAgain(kind, server.mcp, kept, sentTo)
      expect(kept.kept?.scope).toBe('read write call')
      expect((await after.callTool(call)).isError).toBeFalsy()
      await after.close()
      expect(server.errors).toEqual([])
    },
  )

  test('can be ticked when a client that does not step up is disconnected and connected again', async () => {
    await using server = await startOauthServer()
    const kept = new KeptOauth()
    const before = await connectWithOauth('v1', server.mcp, kept, decide())
    // The client only refreshes its token, which grants no further scopes.
    await expect(before.callTool(call)).rejects.toThrow()
    await before.close()
    kept.kept = undefined
    const after = await connectWithOauth('v1', server.mcp, kept, decide(everything))
    expect((await after.callTool(call)).isError).toBeFalsy()
    await after.close()
  })
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

    // An invalid access token, as after its expiry: the client refreshes it by itself.
    if (first)
      kept.kept = { ...first, access_token: first.access_token.replace('access-', 'access-x') }
    expect((await call()).isError).toBeFalsy()
    expect(kept.kept?.access_token).not.toBe(first?.access_token)
    expect(kept.kept?.refresh_token).not.toBe(first?.refresh_token)
    await client.close()
    expect(server.errors).toEqual([])
  })
})
