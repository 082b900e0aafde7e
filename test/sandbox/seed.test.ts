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

describe('catalogs', () => {
  test("hold what the platform's own examples use", async () => {
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
