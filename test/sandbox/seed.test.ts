import { describe, expect, test } from 'vitest'
import { startSandbox } from '../harness/sandbox.ts'

describe('a new sandbox', () => {
  test('has data for every tool', async () => {
    using sandbox = startSandbox()
    const count = async (path: string) => (await sandbox.get(`accounts/me/${path}`)).body.count
    expect(await count('subaccounts')).toBe(2)
    expect(await count('agents')).toBe(3)
    expect(await count('sip-trunks')).toBe(2)
    expect(await count('phone-numbers')).toBe(3)
    const { items } = (await sandbox.get('accounts/me/conversations?limit=1000')).body
    const starts = items.map((one: { start_timestamp: string }) => Date.parse(one.start_timestamp))
    expect((Math.max(...starts) - Math.min(...starts)) / 86_400_000).toBeGreaterThan(58)
  })

  test('has three voice providers with at least twenty voices each', async () => {
    using sandbox = startSandbox()
    for (const provider of ['elevenlabs', 'azure', 'cartesia']) {
      const { body } = await sandbox.get(`accounts/me/providers/voices?provider=${provider}`)
      expect(body.voices.length).toBeGreaterThanOrEqual(20)
      const ids = body.voices.map(({ id }: { id: string }) => id)
      expect(new Set(ids).size).toBe(ids.length)
    }
  })
})

describe('a full sandbox', () => {
  test('has all data of the small sandbox, and a hotel in two languages', async () => {
    using small = startSandbox()
    using full = startSandbox({ seed: 'full' })
    for (const list of ['agents', 'sip-trunks', 'phone-numbers', 'subaccounts', 'calls']) {
      const items = async ({ get }: typeof full) =>
        (await get(`accounts/me/${list}?limit=10000`)).body.items
      expect(await items(full), list).toEqual(expect.arrayContaining(await items(small)))
    }
    const { items } = (await full.get('accounts/me/agents?tags=hotel')).body
    expect(items.map(({ voice }: { voice: { language: string } }) => voice.language)).toEqual([
      'de-de',
      'en-gb',
    ])
    const names = items.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['Hotel Lindenhof Rezeption', 'Hotel Lindenhof reservations'])
  })

  test('has a quiet week, then a busy one, with every outcome', async () => {
    using full = startSandbox({ seed: 'full' })
    const since = (days: number) => new Date(full.now() - days * 86_400_000).toISOString()
    const { items } = (
      await full.get(`accounts/me/conversations?limit=10000&created_after=${since(14)}`)
    ).body
    const isRecent = ({ start_timestamp }: { start_timestamp: string }) =>
      Date.parse(start_timestamp) > full.now() - 7 * 86_400_000
    const busy = items.filter(isRecent).length
    expect(busy).toBeGreaterThan(150)
    expect(items.length - busy).toBeLessThan(80)
    const statuses = new Set(items.map(({ status }: { status: string }) => status))
    expect(statuses).toEqual(new Set(['completed', 'failed', 'transferred']))
    // Start times are in the past, and no placeholder of a text is left.
    for (const { start_timestamp, messages } of items) {
      expect(Date.parse(start_timestamp)).toBeLessThan(full.now())
      expect(JSON.stringify(messages)).not.toMatch(/\{\w+\}/)
    }
  })

  test('is the same each time', async () => {
    using one = startSandbox({ seed: 'full' })
    using other = startSandbox({ seed: 'full' })
    const all = async ({ get }: typeof one) =>
      (await get('accounts/me/conversations?limit=10000')).body
    expect(await all(one)).toEqual(await all(other))
  })

  test('has only phone numbers that are reserved for fiction', async () => {
    using full = startSandbox({ seed: 'full' })
    const { items } = (await full.get('accounts/me/calls?limit=10000')).body
    for (const { from_number, to_number } of items) {
      for (const number of [from_number, to_number].filter(Boolean)) {
        expect(number).toMatch(/^(\+1202555(01)\d\d|\+493023125\d{3})$/)
      }
    }
  })
})

/** Ids in the type definitions of the platform's client library. */
const typed = {
  openai: [
    ...['gpt-5', 'gpt-5-mini', 'gpt-5-nano', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano'],
    ...['gpt-4o', 'gpt-4o-mini'],
  ],
  azure_openai: [
    ...['gpt-5-mini', 'gpt-5-nano', 'gpt-4.1-2025-04-14', 'gpt-4.1-mini-2025-04-14'],
    ...['gpt-4.1-nano-2025-04-14', 'gpt-4o-2024-11-20', 'gpt-4o-mini-2024-07-18'],
  ],
  anthropic: [
    ...['claude-sonnet-4-20250514', 'claude-3-7-sonnet-20250219', 'claude-3-5-haiku-20241022'],
  ],
  deepgram: [
    ...['nova-3:general', 'nova-3:medical', 'nova-2:general', 'nova-2:phonecall'],
    ...['nova-2:meeting', 'nova-2:conversationalai'],
  ],
}

describe('catalogs', () => {
  test("have the ids that the platform's own examples use", async () => {
    using sandbox = startSandbox()
    const models = async (path: string, provider: string) => {
      const { body } = await sandbox.get(`accounts/me/providers/${path}`)
      const entry = body.find(
        (one: { provider: { code: string } }) => one.provider.code === provider,
      )
      return entry.models.map(({ id }: { id: string }) => id)
    }
    for (const provider of ['openai', 'azure_openai', 'anthropic']) {
      expect(await models('models', provider)).not.toEqual([])
    }
    expect(await models('models', 'azure_openai')).toContain('gpt-5-mini')
    for (const [provider, ids] of Object.entries(typed))
      expect(ids, provider).toEqual(
        expect.arrayContaining(
          await models(provider === 'deepgram' ? 'transcribers' : 'models', provider),
        ),
      )
    for (const provider of ['azure', 'deepgram', 'cartesia', 'elevenlabs']) {
      expect(await models('transcribers', provider)).not.toEqual([])
    }
    expect(await models('transcribers', 'deepgram')).toContain('nova-3:general')
    const { body } = await sandbox.get('accounts/me/providers/voices?provider=elevenlabs')
    expect(body.voices).toContainEqual(expect.objectContaining({ id: 'pMsXgVXv3BLzUgSXRplE' }))
  })

  test('voices are filtered and limited, and the error for an unknown provider names the known ones', async () => {
    using sandbox = startSandbox()
    const voices = async (query: string) =>
      (await sandbox.get(`accounts/me/providers/voices?${query}`)).body
    expect((await voices('provider=elevenlabs&language=de')).count).toBe(3)
    expect((await voices('provider=elevenlabs&language=DE_de&gender=female')).voices).toHaveLength(
      1,
    )
    expect((await voices('provider=azure&search=polite')).voices[0].name).toBe('Sonia')
    expect((await voices('provider=azure&limit=2')).voices).toHaveLength(2)
    expect((await voices('provider=none')).errors[0].message).toMatch(/azure, cartesia/)
  })
})
