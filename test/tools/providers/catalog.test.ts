import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogOf, shortenCatalog } from '../../../tools/providers/catalog-result.ts'
import { modelSorts } from '../../../tools/providers.ts'
import { connectStdio, type TestClient } from '../../harness/client.ts'

let client: TestClient
beforeAll(async () => {
  client = await connectStdio('v2 2026-07-28')
})
afterAll(() => client[Symbol.asyncDispose]())

type Model = Record<string, unknown> & { id: string; rank?: number }
const modelsOf = async (name: string, args: object) => {
  const result = await client.value(name, { ...args })
  return { total: result.total, models: result.models as Model[], note: String(result.note) }
}

describe('a catalog that is sorted', () => {
  test('by price shows the cheapest first, with the same rank for the same price', async () => {
    const { models, note, total } = await modelsOf('list_models', { sort_by: 'price' })
    const prices = models.map(
      ({ pricing }) =>
        (pricing as { additional_cost_per_minute: number } | null)?.additional_cost_per_minute,
    )
    expect(prices).toEqual([0, 0, 0, 0, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.04, undefined])
    expect(models.map(({ rank }) => rank)).toEqual([1, 1, 1, 1, 5, 5, 5, 5, 5, 5, 11, undefined])
    expect(models.at(-1)).toMatchObject({ id: 'custom', provider: 'custom' })
    expect(note).toMatchSnapshot()
    expect(total).toBe(12)
  })

  test.each([
    ['intelligence', { id: 'claude-sonnet-4-20250514', provider: 'anthropic', rank: 1 }],
    ['latency', { id: 'llama-3.3-70b-versatile', provider: 'groq', rank: 1 }],
    ['name', { id: 'claude-3-5-haiku-20241022', provider: 'anthropic', rank: 1 }],
  ])('by %s shows the best first', async (sort_by, first) => {
    const { models } = await modelsOf('list_models', { sort_by })
    expect(models[0]).toMatchObject(first)
    expect(models[1]?.rank).toBe(2)
  })

  test('by languages shows the transcribers with the most languages first', async () => {
    const { models } = await modelsOf('list_transcribers', { sort_by: 'languages' })
    const counts = models.map((one) => (one.supported_languages as object[]).length)
    expect(counts).toEqual([...counts].sort((a, b) => b - a))
    expect(models.map(({ rank }) => rank)).toEqual([1, 1, 1, 4, 5, 5])
  })

  test('has only the models of the given provider', async () => {
    const { models } = await modelsOf('list_models', { sort_by: 'price', provider: 'openai' })
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(['openai']))
  })

  test('by an unknown order is an error that names the orders', async () => {
    const { isError, content } = await client.call('list_models', { sort_by: 'beauty' })
    expect(isError).toBe(true)
    expect(content[0]?.text).toMatch(/price.*intelligence.*latency/)
  })
})

test('an unsorted catalog names each provider once, and the fields that a choice depends on', async () => {
  const { content } = await client.call('list_models')
  const text = content[0]?.text ?? ''
  expect(text.match(/"azure_openai"/g)).toHaveLength(1)
  const { providers } = JSON.parse(text.split('\n', 1)[0] ?? '')
  expect(providers.flatMap(({ models }: { models: Model[] }) => models)).toContainEqual(
    expect.objectContaining({
      latency_range: expect.objectContaining({ min_ms: expect.any(Number) }),
      pricing: expect.objectContaining({ additional_cost_per_minute: 0.01 }),
    }),
  )
})

test('a long sorted catalog is shortened to its first models', () => {
  const models = Array.from({ length: 50 }, (_, at) => ({ id: `m${at}`, intelligence_rating: at }))
  const sort = modelSorts.intelligence
  const sorted = catalogOf([{ provider: 'p', models }], { shows: ['id'], sort })
  expect(shortenCatalog.count(sorted)).toBe(50)
  expect(shortenCatalog.keep(sorted, 2, { params: {}, query: {} })).toMatchObject({
    total: 50,
    returned: 2,
    models: [
      { id: 'm49', rank: 1, provider: 'p' },
      { id: 'm48', rank: 2 },
    ],
  })
})
