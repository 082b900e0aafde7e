import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectStdio, type TestClient } from '../../harness/client.ts'
import { type Behaviour, envelope, json, startFakePlatform } from '../../harness/fake-platform.ts'

type Voices = Record<string, unknown> & { voices: Record<string, unknown>[] }
const providers = ['elevenlabs', 'cartesia', 'azure']

describe('voices of the sandbox', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connectStdio('v2 2026-07-28')
  })
  afterAll(() => client[Symbol.asyncDispose]())
  const list = async (args: object) => (await client.value('list_voices', { ...args })) as Voices

  test('are those of all providers that match the filters, if no provider is given', async () => {
    const listed = await list({ language: 'de', gender: 'male' })
    const single = await Promise.all(
      providers.map(
        async (provider) => (await list({ provider, language: 'de', gender: 'male' })).voices,
      ),
    )
    expect(listed.voices).toEqual(single.flat())
    expect(new Set(listed.voices.map(({ provider }) => provider))).toEqual(new Set(providers))
    expect(listed.providers).toMatchObject(providers.map((provider) => ({ provider })))
  })

  test('share the limit, and a note says that there are more', async () => {
    const { voices, note } = await list({ limit: 7 })
    const shares = providers.map((one) => voices.filter(({ provider }) => provider === one).length)
    expect(shares).toEqual([3, 2, 2])
    // The note explains how to read the others.
    expect(note).toMatch(/\blimit\b/)
  })

  test('of a provider with few voices leave their share to the others', async () => {
    const { voices } = await list({ language: 'de', gender: 'neutral', limit: 6 })
    const count = await Promise.all(
      providers.map(async (provider) => {
        const found = await list({ provider, language: 'de', gender: 'neutral' })
        return found.voices.length
      }),
    )
    expect(voices).toHaveLength(
      Math.min(
        6,
        count.reduce((sum, one) => sum + one, 0),
      ),
    )
  })

  test('are sorted across all providers if a sort order is given', async () => {
    const { voices } = await list({ sort_by: 'name', limit: 9 })
    const names = voices.map(({ name }) => String(name))
    expect(names).toEqual([...names].sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)))
    const all = (
      await Promise.all(providers.map((provider) => list({ provider, limit: 500 })))
    ).flatMap((one) => one.voices.map(({ name }) => String(name)))
    expect(names[0]).toBe(all.sort((a, b) => (a.toLowerCase() < b.toLowerCase() ? -1 : 1))[0])
  })

  test('in a language that no provider has come with the closest language', async () => {
    const { note } = await list({ language: 'germn' })
    expect(note).toMatch(/"germn".*\bGerman\b/)
  })
})

describe('voices of a platform', () => {
  async function connect(behaviour: Behaviour, env: Record<string, string> = {}) {
    const platform = await startFakePlatform(behaviour, { account: 'own' })
    const client = await connectStdio('v2 2026-07-28', {
      env: { VOICE_AGENT_API_KEY: 'sk-0123456789', VOICE_AGENT_BASE_URL: platform.url, ...env },
    })
    return {
      ...client,
      seen: platform.seen,
      [Symbol.asyncDispose]: async () => {
        await client[Symbol.asyncDispose]()
        await platform[Symbol.asyncDispose]()
      },
    }
  }
  const providerIn = (url: string) => new URL(url, 'http://x').searchParams.get('provider')

  test('that does not answer for one provider are those of the others, and the result names it', async () => {
    await using wired = await connect(
      ({ url }, response) => {
        if (providerIn(url) === 'cartesia') return
        if (providerIn(url) === 'azure')
          return json(response, 403, envelope('forbidden', 'not bought'))
        return json(response, 200, [{ voice_id: 'v', name: 'Vera' }, 'plain'])
      },
      { VOICE_AGENT_TIMEOUT: '3' },
    )
    expect(await wired.value('list_voices')).toMatchObject({
      returned: 2,
      providers: [
        { provider: 'elevenlabs' },
        { provider: 'cartesia', failed: expect.any(String) },
        { provider: 'azure', failed: expect.stringMatching(/403.*not bought/) },
      ],
      voices: [{ provider: 'elevenlabs', voice_id: 'v', name: 'Vera' }, 'plain'],
    })
    expect(wired.seen.map(({ url }) => providerIn(url)).sort()).toEqual([...providers].sort())
  })

  test('are an error if every provider fails', async () => {
    await using wired = await connect((_, response) => json(response, 403, envelope('forbidden')))
    const { isError, content } = await wired.call('list_voices')
    expect(isError).toBe(true)
    expect(content[0]?.text).toContain('403')
  })

  test('of one provider that fails are an error', async () => {
    await using wired = await connect((_, response) => json(response, 404, envelope('not_found')))
    expect((await wired.call('list_voices', { provider: 'nobody' })).isError).toBe(true)
    expect(wired.seen.map(({ url }) => providerIn(url))).toContain('nobody')
  })
})
