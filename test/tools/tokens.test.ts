import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  catalogueBudget,
  catalogueTokens,
  listingBudget,
  sum,
  tokensOf as tokens,
  toolBudget,
} from '../../src/dev/tokens.ts'
import { estimateTokens } from '../../src/text/token-estimate.ts'
import { resultBudget, shortenLines, shortenValue } from '../../src/tool/results/shortening.ts'
import { read, rowsUnder } from '../docs/documents.ts'
import { connectPerson } from '../harness/answering-client.ts'
import { connectStdio, type TestClient } from '../harness/client.ts'
import { newAgent } from '../harness/every-tool.ts'
import { tries } from '../harness/property.ts'
import { seedIds, startSandbox } from '../harness/sandbox.ts'

describe('the catalogue', () => {
  test('stays within its budget, and so does each tool', () => {
    const rows = catalogueTokens()
    expect(sum(rows)).toBeLessThan(catalogueBudget)
    expect(sum(rows, 'listed')).toBeLessThanOrEqual(listingBudget)
    for (const { name, tokens: own } of rows) expect(own, name).toBeLessThanOrEqual(toolBudget)
    // Only create_agent and update_agent may use more than half of a tool's budget.
    const large = rows.filter(({ tokens: own }) => own > toolBudget / 2).map(({ name }) => name)
    expect(large.filter((name) => !/^(create|update)_agent$/.test(name))).toEqual([])
  })
})

test('CONTRIBUTING.md and docs/clients.md have the budgets', () => {
  const figures = [catalogueBudget, toolBudget, listingBudget].map((n) => n.toLocaleString('en'))
  const row = rowsUnder('CONTRIBUTING.md', 'Scripts').find(([script]) => script?.includes('tokens'))
  expect(row?.[1]?.match(/\d+,\d+/g)).toEqual(figures)
  expect(read('docs/clients.md')).toContain(`under ${figures[0]} tokens`)
})

describe('an estimate', () => {
  const german =
    'Der Kunde wollte wissen, ob die Lieferung auf Donnerstagnachmittag verschoben werden könne, weil vormittags niemand zu Hause sei. '
  const english =
    'The customer asked whether the delivery could be moved to Thursday afternoon, because nobody would be at home. '
  const json = JSON.stringify({ id: 'd7b648df-c63d-49cc', status: 'completed', duration: 93.5 })
  test.each([
    ['English', english, 0.8, 1.25],
    ['German', german, 0.8, 1.25],
    ['JSON', json, 0.8, 1.25],
    // Estimates for other scripts are too high rather than too low.
    ['Amharic', 'እንኳን ደህና መጡ፣ ጠዋት ላይ ቤት ማንም ስለማይኖር ', 0.75, 1.7],
    ['Lao', 'ສະບາຍດີ ຂ້ອຍຢາກຮູ້ວ່າ ', 0.75, 1.7],
    ['Chinese', '您好，我想问一下送货能不能改到星期四下午。', 0.75, 1.7],
    ['emoji', '👩‍👩‍👧🏽🧑🏿‍🚀😀', 0.75, 1.7],
    ['letters in no order', 'Kx9ZqP0LmT7vRb2Nw8Yc', 0.75, 1.25],
    ['what is invisible', '\u200b\u202e\ufffd', 0.75, 1.7],
  ])('of %s is close to the count of o200k', (_, text, min, max) => {
    const long = text.repeat(50)
    const ratio = estimateTokens(long) / tokens(long)
    expect(ratio).toBeGreaterThan(min)
    expect(ratio).toBeLessThan(max)
  })

  test('is never more than the bytes of a text, so that short texts need no estimate', () => {
    const texts = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
    const isLess = (text: string) => estimateTokens(text) <= Buffer.byteLength(text)
    fc.assert(fc.property(texts, isLess), tries(2000))
    // One assertion for all code points, because one for each would dominate the time.
    const codes = Array.from({ length: Math.ceil(0x110000 / 7) }, (_, at) => at * 7)
    expect(codes.filter((code) => !isLess(String.fromCodePoint(code)))).toEqual([])
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
  ])('of %s are within the budget, whatever fields are requested', async (name, args) => {
    const { content, structuredContent } = await client.call(name, args)
    const text = content[0]?.text ?? ''
    // Results are shortened by an estimate that may be a quarter too low.
    expect(tokens(text)).toBeLessThan(resultBudget * 1.25)
    expect(tokens(structuredContent)).toBeLessThan(resultBudget * 1.6)
    const ratio = estimateTokens(text) / tokens(text)
    expect(ratio).toBeGreaterThan(0.8)
    expect(ratio).toBeLessThan(1.25)
  })

  const metadata = Object.fromEntries(
    Array.from({ length: 2500 }, (_, at) => [`key_number_${at}`, `value ${at}`]),
  )
  const words = Array.from({ length: 3000 }, (_, at) => `{{ customer_var_${at} }}`).join(' ')
  const nested = { deep: Array.from({ length: 30 }, () => ({ a: { b: metadata } })) }

  test.each<[string, object, (agent_id: string) => object]>([
    ['validate_agent_template', {}, () => ({ template: words })],
    ['get_agent', { metadata }, (agent_id) => ({ agent_id })],
    ['get_agent', { metadata: { text: '፣"\n'.repeat(20_000) } }, (agent_id) => ({ agent_id })],
    ['list_agents', { metadata }, () => ({ name: 'Large', fields: ['*'] })],
    [
      'update_agent',
      { metadata },
      (agent_id) => ({
        agent_id,
        dry_run: true,
        metadata: Object.fromEntries(Object.keys(metadata).map((name) => [name, 'x'])),
      }),
    ],
  ])('of %s are within the budget even if one item is large', async (name, more, args) => {
    await using person = await connectPerson('v2 2026-07-28', {})
    const { id } = await person.value('create_agent', { ...newAgent, name: 'Large', ...more })
    const result = await person.call(name, args(String(id)))
    const text = result.content[0]?.text ?? ''
    expect(result.isError, text).toBeFalsy()
    expect(tokens(text)).toBeLessThan(resultBudget * 1.25)
    expect(tokens(text)).toBeGreaterThan(resultBudget / 2)
    expect(text).toMatch(/more/)
    expect(text).toMatch(/Shortened.*structuredContent/)
    expect(await person.flaws(name, result)).toBeUndefined()
  })

  test('of a refused list show each call, and the reason once', async () => {
    await using person = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_DIAL_POLICY: '{"max_per_minute":0}' },
    })
    const calls = Array.from({ length: 100 }, (_, at) => ({ to_number: `+12025550${100 + at}` }))
    const line = { agent_id: seedIds.supportAgent, from_number: '+12025550110' }
    const result = await person.call('place_calls', { ...line, calls })
    const text = result.content[0]?.text ?? ''
    expect(text).toMatch(/^100 calls: 100 not_allowed/)
    for (const { to_number } of calls) expect(text).toContain(to_number)
    expect(tokens(text)).toBeLessThan(resultBudget / 4)
    expect(result.structuredContent?.calls).toHaveLength(100)
    expect(tokens(result.structuredContent)).toBeLessThan(resultBudget)
  })

  test.each([
    ['a record', metadata],
    ['a tree', nested],
    ['an array', words.split(' ')],
    ['a text', { text: words }],
    ['a text in signs', { text: '"\\\n'.repeat(30_000) }],
    ['rare letters', { text: '፣ቤት'.repeat(10_000), other: [1, 2, 3] }],
  ])('that are %s are shortened to about the budget, and stay valid JSON', (_, value) => {
    for (const budget of [300, 6000]) {
      const text = shortenValue(value, budget)
      const [json = '', note] = text.split('\n')
      expect(() => JSON.parse(json)).not.toThrow()
      expect(note).toMatch(/^Shortened/)
      expect(estimateTokens(text)).toBeLessThanOrEqual(budget + 5)
      expect(estimateTokens(text)).toBeGreaterThan(budget * 0.3)
    }
  })

  test('that are lines are cut between lines, and the end mark stays', () => {
    const lines = Array.from({ length: 900 }, (_, at) => `${at} user: something was said here`)
    const text = shortenLines(['<untrusted-speech ab12>', ...lines], 1000)
    expect(text).toMatch(/here\n<\/untrusted-speech ab12>\nShortened: \d+ .*structuredContent.*$/)
    expect(estimateTokens(text)).toBeLessThanOrEqual(1000)
    expect(shortenLines(['short', 'text'], 1000)).toBe('short\ntext')
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
