import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectPerson, type Person, tokenOf } from '../../harness/answering-client.ts'
import { errorOf } from '../../harness/client.ts'
import { newAgent } from '../../harness/every-tool.ts'
import { seedIds } from '../../harness/sandbox.ts'

const agent_id = seedIds.supportAgent
const from_number = '+12025550110'
const call = { type: 'phone', agent_id, from_number, to_number: '+12025550101' }
const padding = ' '.repeat(300)
const forged = '\nTo: +10000000000\u202e\u200b'

/** A client whose person declines every question. */
let person: Person
/** A client without elicitation, which gets previews. */
let client: Person
beforeAll(async () => {
  person = await connectPerson('v2 2026-07-28', { answer: { action: 'decline' } })
  client = await connectPerson('v2 2026-07-28', { env: { VOICE_AGENT_CONFIRM: 'always' } })
})
afterAll(async () => {
  await person[Symbol.asyncDispose]()
  await client[Symbol.asyncDispose]()
})
beforeEach(() => {
  person.asked.length = 0
})

/** Lines of the question, after checking that elicitation and preview show the same. */
async function questionOf(name: string, args: object): Promise<string[]> {
  const declined = await person.value(name, args)
  expect(declined).toMatchObject({ confirmation: { state: 'declined' } })
  const preview = await client.call(name, args)
  expect(await client.flaws(name, preview)).toBeUndefined()
  expect(tokenOf(preview)).toBeDefined()
  const lines = person.asked[0]?.split('\n') ?? []
  expect(preview.content[0]?.text.split('\n').slice(1, -2)).toEqual(lines.slice(1))
  const { facts } = Object(preview.structuredContent?.confirmation) as { facts: object }
  expect(Object.entries(facts).map((fact) => fact.join(': '))).toEqual(lines.slice(1))
  return lines
}

/** The refused arguments, after checking that both clients get the same error and no question. */
async function refusedArguments(name: string, args: object) {
  const refused = await person.call(name, args)
  expect(person.asked).toEqual([])
  expect(await client.call(name, args)).toEqual(refused)
  const { kind, fields } = errorOf(refused)
  expect(kind).toBe('bad_arguments')
  return fields
}

describe('before a call a person sees', () => {
  test.each<[string, object, string[]]>([
    ['its variables', { test_variables: { name: 'Erika' } }, ['test_variables.name: "Erika"']],
    [
      'variables at every depth',
      { test_variables: { a: { b: [1, { c: null }], d: {} }, 'e.f': true, g: [] } },
      [
        'test_variables.a.b.0: 1',
        'test_variables.a.b.1.c: null',
        'test_variables.a.d: {}',
        'test_variables."e.f": true',
        'test_variables.g: []',
      ],
    ],
    [
      'what is changed of the agent, behind padding too',
      { overrides: { note: padding, initial_message: { message: 'Tell me your PIN' } } },
      [
        `overrides.note: "${'\\u0020'.repeat(300)}"`,
        'overrides.initial_message.message: "Tell me your PIN"',
      ],
    ],
    [
      'a forged line as the value it is in',
      { test_variables: { a: forged, [forged]: 1 } },
      [
        'test_variables.a: "\\nTo: +10000000000\\u202e\\u200b"',
        'test_variables."\\nTo: +10000000000\\u202e\\u200b": 1',
      ],
    ],
  ])('%s', async (_, args, expected) => {
    const lines = await questionOf('place_call', { ...call, ...args })
    expect(lines.slice(0, 4)).toEqual([
      'Call +12025550101?',
      'To: +12025550101',
      'From: +12025550110 ("Main line")',
      `Agent: "Support line" (${agent_id})`,
    ])
    expect(lines.slice(-expected.length)).toEqual(expected)
  })

  test('the first text of a browser call', async () => {
    const lines = await questionOf('place_call', {
      type: 'web',
      agent_id,
      initial_text: 'Hello\u2028there',
      audio_input_enabled: false,
      audio_output_enabled: true,
      skip_greeting_on_initial_text: true,
      device_fingerprint: 'device 1',
    })
    expect(lines[0]).toMatchSnapshot()
    expect(lines.slice(-5)).toEqual([
      'initial_text: "Hello\\u2028there"',
      'audio_input_enabled: false',
      'audio_output_enabled: true',
      'skip_greeting_on_initial_text: true',
      'device_fingerprint: "device 1"',
    ])
  })
})

describe('before a list of calls a person sees', () => {
  const listed = (...calls: object[]) => ({ agent_id, from_number, calls })

  test('common values once, and other values for each call', async () => {
    const lines = await questionOf('place_calls', {
      ...listed(
        { to_number: '+12025550101', external_id: 'a 1', test_variables: { name: 'Erika', at: 9 } },
        { to_number: '+12025550102', test_variables: { name: 'Max\nCall 3', at: 9, shop: 'B' } },
        { to_number: '+12025550102', test_variables: { name: 'Max\nCall 3', at: 9, shop: 'B' } },
        { to_number: '+12025550103', test_variables: { at: 9, name: 'Ada' } },
      ),
      test_variables: { shop: 'A', firm: { name: 'ACME' } },
      overrides: { volume: { telephony: 1 } },
    })
    expect(lines).toMatchSnapshot()
  })

  test('all of a hundred calls with a few values each', async () => {
    const calls = Array.from({ length: 100 }, (_, at) => ({
      to_number: `+12025550${100 + at}`,
      test_variables: { name: `Person ${at}`, firm: 'ACME' },
    }))
    const lines = await questionOf('place_calls', listed(...calls))
    for (const [at, { to_number }] of calls.entries())
      expect(lines).toContain(`Call ${at + 1}: ${to_number}, test_variables.name "Person ${at}"`)
  })

  test('nothing if the values are too long: the list is refused with the argument', async () => {
    const calls = Array.from({ length: 100 }, (_, at) => ({
      to_number: `+12025550${100 + at}`,
      test_variables: { note: `${at}`.padEnd(100, 'x') },
    }))
    expect(await refusedArguments('place_calls', listed(...calls))).toMatchObject([
      { argument: 'calls', message: expect.stringMatching(/ 1\d{4} .* 10000 in 150 /) },
    ])
    const long = { to_number: '+12025550101', test_variables: { note: 'x'.repeat(2000) } }
    const short = { to_number: '+12025550102', test_variables: { note: '' } }
    expect(await refusedArguments('place_calls', listed(short, long))).toMatchObject([
      { argument: 'calls.1', message: expect.stringMatching(/ 2\d{3} /) },
    ])
  })
})

describe('the greeting that will be spoken', () => {
  const saying = (message: string, more: object = {}) => ({
    overrides: { initial_message: { message, ...more } },
  })
  const greetingLines = async (name: string, args: object) =>
    (await questionOf(name, args)).filter((line) => /greeting/i.test(line))

  test.each<[string, object]>([
    [
      'with the variables of this call, nested or dotted',
      {
        ...saying('Hi {{ contact.first_name }} of {{ shop.name }} at {{ contact_number }}'),
        test_variables: { contact: { first_name: 'Ada' }, 'shop.name': 'ACME' },
      },
    ],
    ['and what stays empty in it', saying('Your {{ item }} is ready, {{ name }}.')],
    [
      'and what stays empty in it, if a value would be changed or choose other words',
      saying('{{ name | upper }}, {% if day %}{{ day }}{% else %}soon{{ day }}{% endif %}'),
    ],
    ['and what stays empty in it, in words that look like its marks', saying('[blank: x]{{ x }}')],
    ['and that it does not render', saying('Hi {{ order.item.name }}')],
    ['and that nothing is spoken first', saying('Hi', { mode: 'user_first' })],
    ['and that the model words it', saying('Hi', { mode: 'dynamic_message' })],
    ['and how much of it is left out', saying('x'.repeat(700))],
    ['and that it cannot be known', { overrides: { initial_message: { message: 7 } } }],
    [
      'without forging a line',
      { ...saying('Hi {{ name }}'), test_variables: { name: '\nTo: +1' } },
    ],
  ])('is shown %s', async (_, more) => {
    expect(await greetingLines('place_call', { ...call, ...more })).toMatchSnapshot()
  })

  test('is shown once for a list if it is the same', async () => {
    const calls = [{ to_number: '+12025550101' }, { to_number: '+12025550102' }]
    const args = { agent_id, from_number, calls, ...saying('Hi all of {{ firm }}') }
    expect(await greetingLines('place_calls', args)).toMatchSnapshot()
  })

  test('is shown for some calls of a batch, with the empty variables of all', async () => {
    const calls = Array.from({ length: 100 }, (_, at) => ({
      to_number: `+12025550${100 + at}`,
      ...(at !== 6 && { test_variables: { name: `P${at}` } }),
    }))
    const args = { agent_id, from_number, calls, ...saying('Hi {{ name }}') }
    expect(await greetingLines('place_calls', args)).toMatchSnapshot()
  })

  test('is no longer rendered for a batch once it takes too much work', async () => {
    const calls = Array.from({ length: 100 }, (_, at) => ({
      to_number: `+12025550${100 + at}`,
      test_variables: { name: `P${at}` },
    }))
    const slow =
      '{% for a in range(9999) %}{% for b in range(9999) %}{{ name }}{% endfor %}{% endfor %}'
    const lines = await greetingLines('place_calls', {
      agent_id,
      from_number,
      calls,
      ...saying(slow),
    })
    expect(lines).toEqual([
      `Greeting template: "${slow}"`,
      expect.stringMatching(/^Greeting of call 1: [^"]/),
      expect.stringMatching(/^[^:]+: 99 /),
    ])
  })
})

describe('what a person cannot be shown is refused', () => {
  test.each<[string, object]>([
    ['test_variables.note', { test_variables: { note: 'x'.repeat(2000) } }],
    [
      'overrides.initial_message.message',
      { overrides: { initial_message: { message: `Hi${' '.repeat(400)}` } } },
    ],
    [
      'test_variables',
      {
        test_variables: Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`v${at}`, at])),
      },
    ],
    [
      'overrides',
      {
        test_variables: { a: 'a'.repeat(1500) },
        overrides: { tags: Array(9).fill('x'.repeat(1000)) },
      },
    ],
  ])('%s', async (argument, more) => {
    expect(await refusedArguments('place_call', { ...call, ...more })).toMatchObject([{ argument }])
  })

  test('and is sent if the operator has switched confirmation off', async () => {
    await using free = await connectPerson('v2 2026-07-28', {
      env: { VOICE_AGENT_CONFIRM: 'never' },
    })
    const long = { ...call, test_variables: { note: 'x'.repeat(20_000) } }
    expect(await free.value('place_call', long)).toMatchObject({ repeated: false })
  })
})

describe('before a delete, an archive or a disabled subaccount', () => {
  test('names are shown as names', async () => {
    const name = 'Old" (x)?\nUndo: yes\u202e\u3164'
    const { id } = await client.value('create_sip_trunk', { name })
    const preview = await client.call('delete_sip_trunk', { sip_trunk_id: id })
    const shown = `"Old\\" (x)?\\nUndo: yes\\u202e\\u3164" (${id})`
    expect(preview.structuredContent?.confirmation).toMatchObject({
      question: expect.stringContaining(shown),
      facts: { Trunk: shown, Account: `"Sandbox account" (${seedIds.account})` },
    })
    const [head, ...lines] = preview.content[0]?.text.split('\n') ?? []
    expect(head).toContain(shown)
    expect(lines[0]).toBe(`Trunk: ${shown}`)
  })

  test('other changes of a subaccount are shown', async () => {
    const lines = await questionOf('update_subaccount', {
      subaccount_id: seedIds.subaccount,
      is_active: false,
      name: 'Gone\u200b',
    })
    expect(lines.at(-1)).toBe('name: "Gone\\u200b"')
  })
})

describe('a token of a preview', () => {
  test.each([
    ['place_call', { type: 'phone', from_number, to_number: '+12025550101' }],
    ['place_calls', { from_number, calls: [{ to_number: '+12025550101' }] }],
  ])('%s: is void once the agent has another greeting', async (name, args) => {
    const create = (message: string) => ({ ...newAgent, initial_message: { message } })
    const { id } = await client.value('create_agent', create('Hello from ACME.'))
    const given = { ...args, agent_id: id }
    const preview = await client.call(name, given)
    expect(preview.structuredContent).toMatchObject({
      confirmation: { facts: { Greeting: '"Hello from ACME."' } },
    })
    await client.value('update_agent', {
      agent_id: id,
      initial_message: { message: 'Tell me your PIN.' },
    })
    const again = await client.call(name, { ...given, confirm_token: tokenOf(preview) })
    expect(again.structuredContent).toMatchObject({
      confirmation: { state: 'needed', facts: { Greeting: '"Tell me your PIN."' } },
    })
    expect(await client.value('list_calls', { agent_id: id })).toMatchObject({ returned: 0 })
    const confirmed = await client.call(name, { ...given, confirm_token: tokenOf(again) })
    expect(tokenOf(confirmed)).toBeUndefined()
    expect(await client.value('list_calls', { agent_id: id })).toMatchObject({ returned: 1 })
  })
})
