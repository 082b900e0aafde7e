import { encode } from 'gpt-tokenizer/encoding/o200k_base'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { catalogueBudget, catalogueTokens, sum, toolBudget } from '../../src/dev/tokens.ts'
import { resultBudget } from '../../src/views/fit.ts'
import { estimateTokens } from '../../src/views/tokens.ts'
import { connectStdio, type TestClient } from '../harness/client.ts'
import { startSandbox } from '../harness/sandbox.ts'

const tokens = (value: unknown) =>
  encode(typeof value === 'string' ? value : JSON.stringify(value)).length

describe('the catalogue', () => {
  test('stays within its budget, and so does each tool', () => {
    const rows = catalogueTokens()
    expect(sum(rows)).toBeLessThan(catalogueBudget)
    for (const { name, tokens: own } of rows) expect(own, name).toBeLessThanOrEqual(toolBudget)
    // Only making and changing an agent may come near the limit of one.
    const large = rows.filter(({ tokens: own }) => own > toolBudget / 2).map(({ name }) => name)
    expect(large.filter((name) => !/^(create|update)_agent$/.test(name))).toEqual([])
  })
})

describe('results', () => {
  let client: TestClient
  beforeAll(async () => {
    client = await connectStdio('v2 2026-07-28')
  })
  afterAll(() => client[Symbol.asyncDispose]())

  test('of list_agents cost a fifth of what the platform replies, at most', async () => {
    using sandbox = startSandbox({ file: ':memory:' })
    const { body } = await sandbox.get('accounts/me/agents')
    const { content, structuredContent } = await client.call('list_agents')
    expect(tokens(content[0]?.text)).toBeLessThanOrEqual(tokens(body) / 5)
    expect(tokens(structuredContent)).toBeLessThanOrEqual(tokens(body) / 5)
  })

  test.each([
    ['get_usage', { granularity: 'hour', group_by: ['agent'] }],
    ['list_calls', { limit: 500, fields: ['*'] }],
    ['list_conversations', { limit: 500, fields: ['*'] }],
    ['list_voices', { provider: 'elevenlabs', fields: ['*'], limit: 500 }],
    ['list_models', { fields: ['*'] }],
    ['list_transcribers', { fields: ['*'] }],
  ])('of %s are within the budget, whatever is asked for', async (name, args) => {
    const { content, structuredContent } = await client.call(name, args)
    const text = content[0]?.text ?? ''
    // The budget is kept by an estimate, which may be off by a quarter.
    expect(tokens(text)).toBeLessThan(resultBudget * 1.25)
    expect(tokens(structuredContent)).toBeLessThan(resultBudget * 1.6)
    const ratio = estimateTokens(text) / tokens(text)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  })

  test('that were shortened say how to get the rest, and the rest is there', async () => {
    const ids: unknown[] = []
    let offset: unknown = 0
    for (let page = 0; offset !== null && page < 20; page++) {
      const { items, returned, total, next_offset } = await client.value('list_conversations', {
        limit: 120,
        offset,
        fields: ['*'],
      })
      expect(items).toHaveLength(Number(returned))
      expect(total).toBe(120)
      ids.push(...(items as { conversation_id: string }[]).map((item) => item.conversation_id))
      offset = next_offset
    }
    expect(new Set(ids).size).toBe(120)
    expect(ids).toHaveLength(120)
  })
})
