import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { routes } from '../../../src/contract/routes.ts'
import { redactor } from '../../../src/platform/key-redaction.ts'
import { auditedArguments, Redaction } from '../../../src/server/audit/redaction.ts'
import { WriteRecord } from '../../../src/server/audit/tool-call-record.ts'
import { mintExternalId } from '../../../src/state/call-journal.ts'
import { tools } from '../../../tools/index.ts'
import { tries } from '../../harness/property.ts'

const key = 'sk-live-Zq81!"\\key'
const redaction = (showsNumbers = false) => new Redaction({ redact: redactor(key), showsNumbers })
const known = ['agent_id', 'name', 'tags', 'to_number', 'calls', 'note', 'model', 'test_variables']
const redacted = (given: Record<string, unknown>, names = known) =>
  redaction().arguments(given, names)

const writing = tools.filter(({ effect }) => effect !== 'reads')

describe('arguments in the audit trail', () => {
  test('ids and names are shown, texts and variables are counted, secrets are hidden', () => {
    const prompt = 'You are kind. '.repeat(20)
    expect(
      redacted(
        {
          agent_id: '00000000-0000-4000-8002-000000000001',
          name: 'Front desk',
          note: 'short',
          model: { provider: 'openai', model: 'gpt-5', temperature: 0.5, prompt },
          test_variables: { customer: 'Anna', amount: 12, nested: {} },
          confirm_token: 'abc',
          overrides: { voice: { api_token: 'abc', voice_id: 'v' } },
        },
        [...known, 'confirm_token', 'overrides'],
      ),
    ).toEqual({
      agent_id: '00000000-0000-4000-8002-000000000001',
      name: 'Front desk',
      note: { characters: 5 },
      model: {
        provider: 'openai',
        model: 'gpt-5',
        temperature: 0.5,
        prompt: { characters: 280, sha256: expect.stringMatching(/^[\da-f]{16}$/) },
      },
      test_variables: {
        customer: { characters: 4 },
        amount: { type: 'number' },
        nested: { type: 'object' },
      },
      confirm_token: { hidden: true },
      overrides: { voice: { api_token: { hidden: true }, voice_id: 'v' } },
    })
  })

  test('telephone numbers end with their last digits, also in names', () => {
    expect(
      redacted({ to_number: '+4915112345678', name: 'Desk +49 (151) 123-45678', tags: ['110'] }),
    ).toEqual({ to_number: '…5678', name: 'Desk …5678', tags: ['110'] })
    expect(redacted({ to_number: 4915112345678, agent_id: 4915112345678 })).toEqual({
      to_number: '…5678',
      agent_id: '…5678',
    })
    expect(redacted({ to_number: '110' })).toEqual({ to_number: '…0' })
  })

  test.each([
    '_',
    ',',
    ', ',
    "'",
    '’',
    '`',
    '·',
    '•',
    '‧',
    '・',
    '\u200b',
    '\u200d',
    '\u2060',
    '\ufeff',
    '\u00ad',
    '\u202f',
    '*',
    '|',
    ':',
    '~',
    '\u20e3',
    'ー',
    'ｰ',
    'ʼ',
    'ـ',
    '\u115f',
    '\u1160',
    '\u3164',
    '\uffa0',
    '\u200b'.repeat(20),
  ])('a telephone number whose digits have %j between them is shortened', (between) => {
    const number = ['+49', '151', '1234', '5678'].join(between)
    const digits = [...'4915112345678'].join(between)
    expect(redacted({ name: `Desk ${number}`, tags: [digits] })).toEqual({
      name: 'Desk …5678',
      tags: ['…5678'],
    })
  })

  test('a telephone number in digits of another form is shortened', () => {
    for (const digits of ['４９１５１１２３４５６７８', '٤٩١٥١١٢٣٤٥٦٧٨', '④⑨①⑤①①②③④⑤⑥⑦⑧'])
      expect(redacted({ name: `Desk ＋${digits}` })).toEqual({ name: `Desk …${digits.slice(-4)}` })
  })

  test('a UUID stays whole, also within a text', () => {
    const uuid = '11111111-1111-4111-8111-111111111111'
    const given = { name: `copy of ${uuid}, 2`, external_id: uuid.replaceAll('1', '2') }
    expect(redacted(given, Object.keys(given))).toEqual(given)
    expect(redaction().id('req_20261122104201')).toBe('req_20261122104201')
  })

  const minted = `auto-${'4915112345678'.padEnd(24, '0')}`
  test('an id in the form of those that this server makes stays whole', () => {
    expect(mintExternalId()).toMatch(/^auto-[\da-f]{24}$/)
    expect(redacted({ name: minted })).toEqual({ name: minted })
  })

  test.each([
    ['order-20261122-1042', 'order-20261122-1042'],
    ['1002003004', '1002003004'],
    [minted, minted],
    // Ids that contain a phone number: one with a plus sign, or a number of the call itself.
    ['lead +49 (30) 123_4567 b', 'lead …4567 b'],
    ['lead-4915112345678', 'lead-…5678'],
    ['0151/123.456.78', '…5678'],
    ['crm-7-0151 1234 5678', 'crm-…5678'],
    ['lead-0151ー1234ー5678', 'lead-…5678'],
    ['lead-٠١٥١١٢٣٤٥٦٧٨', 'lead-…٥٦٧٨'],
  ])("a caller's external_id can be found again: %s", (external_id, shown) => {
    const to_number = '+4915112345678'
    const names = ['external_id', 'to_number', 'calls']
    expect(redacted({ external_id, to_number }, names)).toMatchObject({ external_id: shown })
    expect(redacted({ calls: [{ external_id, to_number }] }, names)).toMatchObject({
      calls: [{ external_id: shown }],
    })
  })

  test("a caller's external_id in the line of a call shows no telephone number", () => {
    const externalIdOf = (external_id: string) => {
      const body = { to_number: '+4915112345678', external_id }
      return new WriteRecord(
        routes.calls.place,
        { params: {}, query: {}, body },
        redaction(),
      ).facts().external_id
    }
    expect(externalIdOf('order-20261122-1042')).toBe('order-20261122-1042')
    expect(externalIdOf('lead-+49 30 1234567')).toBe('lead-…4567')
    expect(externalIdOf('lead-015112345678')).toBe('lead-…5678')
  })

  test('telephone numbers are shown where the operator wants them', () => {
    const given = {
      to_number: '+4915112345678',
      name: 'Desk +4915112345678',
      note: '+4915112345678',
    }
    expect(redaction(true).arguments(given, known)).toEqual({ ...given, note: { characters: 14 } })
  })

  test('addresses, times and ids of digits are no telephone numbers', () => {
    const given = {
      allowed_ips: ['203.0.113.10/32', '2001:db8::1'],
      expected_modified: '2026-11-22T08:00:00.123456+00:00',
      agent_id: '11111111-1111-4111-8111-111111111111',
      termination_uri: 'sip:me:secret@example.com',
    }
    expect(redacted(given, Object.keys(given))).toEqual({
      ...given,
      termination_uri: '…@example.com',
    })
  })

  test('of arguments that a tool does not have only the names and kinds are recorded', () => {
    expect(redacted({ customer: { name: 'Anna' }, friendly_name: 'Anna', list: [1] })).toEqual({
      customer: { type: 'object' },
      friendly_name: { characters: 4 },
      list: { items: 1 },
    })
  })

  test('an entry stays small, whatever is sent', () => {
    const calls = Array.from({ length: 100 }, () => ({
      to_number: '+4915112345678',
      test_variables: Object.fromEntries(
        Array.from({ length: 100 }, (_, n) => [`${n} ${'x'.repeat(500)}`, 'x'.repeat(500)]),
      ),
    }))
    let deep: unknown = 'x'
    for (let depth = 0; depth < 1000; depth++) deep = { tags: [deep] }
    const text = JSON.stringify(redacted({ calls, tags: deep, name: 'x'.repeat(1_000_000) }))
    expect(text.length).toBeLessThan(150_000)
    expect(redacted({ calls: calls.slice(0, 21).map(() => 1) })).toEqual({
      calls: [...Array.from({ length: 20 }, () => 1), { more: 1 }],
    })
  })

  test('no line can be forged, and no name of JavaScript changes anything', () => {
    const given = JSON.parse('{"__proto__": {"name": 1}, "name": "a\\n\\u202eb"}')
    const result = redacted(given, [...known, '__proto__'])
    expect(JSON.stringify(result)).toBe('{"__proto__":{"name":1},"name":"a\\\\n\\\\u202eb"}')
  })

  test('every text argument of a tool that changes something is in the list, or counted by decision', () => {
    const counted = new Set<string>()
    for (const tool of writing) collectTexts(tool.inputSchema(), '', counted)
    expect([...counted].sort()).toEqual(['initial_text', 'keywords', 'message', 'note'])
  })
})

const listed = new Set<string>(Object.values(auditedArguments).flat())

/** Adds the names of text arguments that `auditedArguments` does not list. */
function collectTexts(schema: unknown, name: string, found: Set<string>): void {
  const Schema = z.looseObject({
    type: z.unknown().optional(),
    properties: z.record(z.string(), z.unknown()).default({}),
    items: z.unknown().optional(),
    anyOf: z.array(z.unknown()).default([]),
    enum: z.unknown().optional(),
  })
  const { data } = Schema.safeParse(schema)
  if (!data || listed.has(name)) return
  if (data.type === 'string' && !data.enum) found.add(name)
  for (const [field, one] of Object.entries(data.properties)) collectTexts(one, field, found)
  for (const one of [...data.anyOf, data.items]) collectTexts(one, name, found)
}

describe('whatever a client sends', () => {
  const number = fc
    .tuple(
      fc.constantFrom('+', '00', ''),
      fc.stringMatching(/^[1-9]\d{8,13}$/),
      fc.constantFrom('', ' ', '-', ') (', '_', ', ', '’', '·', '\u200b'),
    )
    .map(([prefix, digits, between]) => ({
      digits,
      text: prefix + [...digits].join(between),
    }))
  const names = [...new Set(writing.flatMap(({ input }) => Object.keys(input.shape)))]
  // A caller's own id may be digits that are not a phone number.
  const numbered = names.filter((name) => name !== 'external_id')
  const text = (secret: string) =>
    fc
      .tuple(fc.string({ maxLength: 20 }), fc.string({ maxLength: 20 }))
      .map(([before, after]) => `${before} ${secret} ${after}`)
  const argumentsWith = (secret: string, names: readonly string[]) => {
    const leaf = fc.oneof(text(secret), fc.constant(secret), fc.integer(), fc.boolean())
    const value = fc.oneof(
      leaf,
      fc.array(leaf, { maxLength: 3 }),
      fc.dictionary(fc.oneof(fc.constantFrom(...names), text(secret)), leaf, { maxKeys: 4 }),
    )
    return fc.dictionary(fc.oneof(fc.constantFrom(...names), text(secret)), value, { maxKeys: 8 })
  }

  test('no telephone number is in the trail', () => {
    const given = number.chain((one) =>
      argumentsWith(one.text, numbered).map((args) => ({ ...one, args })),
    )
    fc.assert(
      fc.property(given, ({ digits, args }) => {
        const found = JSON.stringify(redacted(args, names)).replace(/[\s().\-_,’·\u200b]/g, '')
        expect(found).not.toContain(digits)
        expect(found).not.toContain(digits.slice(0, -4))
      }),
      tries(300),
    )
  })

  test('no key is in the trail, however it is written', () => {
    const forms = [key, encodeURIComponent(key), JSON.stringify(key), btoa(`x${key}y`)]
    const given = fc.constantFrom(...forms).chain((form) => argumentsWith(form, names))
    fc.assert(
      fc.property(given, fc.boolean(), (args, showsNumbers) => {
        const found = JSON.stringify(redaction(showsNumbers).arguments(args, names))
        for (const form of forms) expect(found).not.toContain(form.slice(0, -4))
      }),
      tries(300),
    )
  })
})
