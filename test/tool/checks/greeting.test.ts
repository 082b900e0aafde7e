import { describe, expect, test } from 'vitest'
import {
  type GreetingFacts,
  spokenGreeting,
  spokenGreetingInWords,
} from '../../../src/tool/checks/greeting.ts'
import { startSandbox } from '../../harness/sandbox.ts'

const call = {
  agentId: 'a1',
  fromNumber: '+12025550110',
  toNumber: '+12025550100',
  type: 'phone',
} as const satisfies GreetingFacts

const spoken = (message: string, testVariables: GreetingFacts['testVariables'] = {}) =>
  spokenGreeting({ message }, { ...call, testVariables })

describe('a greeting as it will be spoken', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['Hello {{ customer.name }}', { customer: { name: 'Erika' } }, 'Hello Erika'],
    ['Hello {{ customer.name }}', { 'customer.name': 'Erika' }, 'Hello Erika'],
    ['{{ direction }} {{ medium }} {{ agent_uuid }}', {}, 'outbound phone a1'],
    ['{{ agent_number }} {{ contact_number }}', {}, '+12025550110 +12025550100'],
    ['{{ contact.phone_number }}', {}, '+12025550100'],
    ['{% if vip %}Dear{% else %}Hi{% endif %} {{ n }}', { vip: true, n: 3 }, 'Dear 3'],
  ])('%s with %j', async (message, variables, text) => {
    expect(await spoken(message, variables)).toMatchObject({ kind: 'spoken', text, empty: [] })
  })

  test('values that only the platform knows are placeholders, and are named', async () => {
    const greeting = await spoken('Hi {{ contact.first_name }}, it is {{ current_datetime }}')
    expect(greeting).toMatchObject({ kind: 'spoken', fromPlatform: ['contact.first_name'] })
    expect(greeting).toMatchObject({
      text: expect.stringMatching(/^Hi \[contact.first_name\], .*T/),
    })
    expect(await spoken('Hi {{ contact.first_name }}', { contact: { first_name: 'Bo' } })).toEqual({
      kind: 'spoken',
      text: 'Hi Bo',
      empty: [],
      fromPlatform: [],
      isReworded: false,
    })
  })

  test.each<[string, Record<string, unknown>, string[]]>([
    ['Hello {{ name }}!', {}, ['name']],
    ['Hello {{ name | upper }}!', {}, ['name']],
    ['Hello {{ "Dr. " ~ name }}!', {}, ['name']],
    ['Hello {{ name }}!', { name: '' }, ['name']],
    [
      '{{ order.id }} {{ order.rows[0].name }}',
      { order: { rows: [{}] } },
      ['order.id', 'order.rows[0].name'],
    ],
    ['{{ dyn_summary }}', {}, ['dyn_summary']],
    ['{{ name }} {{ name }}', {}, ['name']],
    ['{{ name | default("you") }}', {}, []],
    ['{% if name %}{{ name }}{% endif %}Hello', {}, []],
    ['{% set title = "" %}{{ title }}Hello', {}, []],
    [
      '{% for one in order.rows %}{{ one.name }}{% endfor %}',
      { order: { rows: [{}, {}] } },
      ['one.name'],
    ],
  ])('%s with %j has gaps: %j', async (message, variables, empty) => {
    expect(await spoken(message, variables)).toMatchObject({ kind: 'spoken', empty })
  })

  test('is reported as failing to render, with the reason', async () => {
    expect(await spoken('Hi\n{{ customer.name }}')).toEqual({
      kind: 'fails',
      error: expect.stringMatching(/'customer'.*\bline 2\b/),
      empty: [],
    })
    expect(await spoken('Hi {{ name')).toMatchObject({ kind: 'fails' })
  })

  test.each([
    ['user_first', 'Hello'],
    ['fixed_message', ''],
    ['fixed_message', null],
  ])('mode %s with the text %j speaks nothing first', async (mode, message) => {
    expect(await spokenGreeting({ mode, message }, call)).toMatchObject({ kind: 'none' })
  })

  test('a greeting that the model rewords is marked as such', async () => {
    const greeting = await spokenGreeting({ mode: 'dynamic_message', message: 'Greet Bo' }, call)
    expect(greeting).toMatchObject({ kind: 'spoken', isReworded: true })
    expect(spokenGreetingInWords(greeting)).toMatch(/^[^"]+"Greet Bo"$/)
  })

  test('as text has the greeting, its gaps, and the number of omitted characters', async () => {
    const greeting = await spoken('Hi {{ contact.first_name }} {{ a }}{{ b.c }}', { b: {} })
    expect(spokenGreetingInWords(greeting).split('; ')).toEqual([
      '"Hi [contact.first_name] "',
      expect.stringContaining('EMPTY in it: a, b.c'),
      expect.stringContaining('[…]'),
    ])
    expect(spokenGreetingInWords(await spoken('a'.repeat(700)))).toMatch(/^"a{600}".*\b100\b/)
  })

  test('the sandbox speaks the same', async () => {
    using sandbox = startSandbox()
    const { body: agents } = await sandbox.get('accounts/me/agents')
    const [agent] = agents.items
    const from_number = call.fromNumber
    const message =
      'Hi {{ order.id }}{{ order.none }} from {{ agent_number }} by {{ medium }}, {{ direction }}'
    const test_variables = { order: { id: 7 } }
    const placed = await sandbox.send('POST', 'accounts/me/calls', {
      ...{ type: 'phone', agent_id: agent.id, from_number, to_number: call.toNumber },
      test_variables,
      overrides: { initial_message: { message } },
    })
    expect(placed).toMatchObject({ status: 201 })
    sandbox.wait(600)
    const { body } = await sandbox.get(`accounts/me/calls/${placed.body.id}`)
    const said = body.messages.find((one: { role: string }) => one.role === 'agent')
    const facts = {
      ...call,
      agentId: agent.id,
      fromNumber: from_number,
      testVariables: test_variables,
    }
    const greeting = await spokenGreeting({ message }, facts)
    expect(greeting).toMatchObject({ text: said.message, empty: ['order.none'] })
  })
})

describe('a hostile greeting', () => {
  test.each([
    ['{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}'],
    ['{{ "x" * 99999999 }}'],
    ['{{ 9 ** 99999 }}'],
    ['{{ a }}'.repeat(100_000)],
    [`{{ ${'('.repeat(5000)}`],
    [`{% set a = 'x' * 40000 %}${'{{ a }}'.repeat(1000)}`],
  ])('template %# stops early, and its greeting is reported as unknown', async (message) => {
    const { cpu, greeting } = await measured(() => spoken(message))
    expect(greeting.kind).toBe('unknown')
    expect(cpu).toBeLessThan(500)
  })

  test('with many gaps names the first hundred, without delay', async () => {
    const names = Array.from({ length: 3000 }, (_, at) => `{{ ${'n'.repeat(40)}${at} }}`)
    const { cpu, greeting } = await measured(() => spoken(names.join('')))
    expect(greeting).toMatchObject({ kind: 'spoken' })
    expect(greeting.kind === 'spoken' && greeting.empty.length).toBe(100)
    expect(cpu).toBeLessThan(500)
  })

  test('with a very long name shows the start of it', async () => {
    const greeting = await spoken(`{{ ${'n'.repeat(9000)} }}`)
    expect(greeting.kind === 'spoken' && greeting.empty[0]?.length).toBeLessThan(300)
  })

  test('and hostile variables change nothing else', async () => {
    const variables = JSON.parse('{"__proto__": {"polluted": 1}, "a.__proto__.polluted": 1}')
    expect(await spoken('{{ polluted }}x', variables)).toMatchObject({ text: 'x' })
    expect({}).not.toHaveProperty('polluted')
  })
})

async function measured(run: () => ReturnType<typeof spoken>) {
  const before = process.cpuUsage()
  const greeting = await run()
  const { user, system } = process.cpuUsage(before)
  return { greeting, cpu: (user + system) / 1000 }
}
