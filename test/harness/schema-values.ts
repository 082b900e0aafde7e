import fc from 'fast-check'
import { isObject, type Schema } from './openapi.ts'

/*
 * Arbitrary JSON that matches a JSON Schema. Fields with certain names get values from a
 * dictionary, as in a fuzzer, which reach more code.
 */

/** Placeholder for an id of an earlier reply: the newest of its kind, or up to five before it. */
export const reference = (kind: string) => fc.nat({ max: 5 }).map((back) => `@${kind}#${back}@`)

/** Replaces every placeholder of `reference` by what `find` returns. */
export const withReferences = (text: string, find: (kind: string, back: number) => string) =>
  text.replace(/@([a-z_]+)#(\d)@/g, (_, kind: string, back: string) => find(kind, Number(back)))

/**
 * Placeholders for deeply nested objects, with their depth. Recursive code would overflow the
 * stack.
 */
const nestings: ReadonlyMap<string, number> = new Map([
  ['@nested a little@', 100],
  ['@nested deeply@', 1500],
  ['@nested endlessly@', 20_000],
])

/** Replaces the placeholders of `nestings` in JSON text. */
export function withNestings(json: string): string {
  let text = json
  for (const [name, levels] of nestings) {
    text = text.replaceAll(`"${name}"`, () => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`)
  }
  return text
}

/** Kind of id that a field or parameter refers to, by its name. */
export const referenceKinds: Readonly<Record<string, string>> = {
  account_id: 'account',
  subaccount_id: 'account',
  agent_id: 'agent',
  inbound_agent_id: 'agent',
  sip_trunk_id: 'sip_trunk',
  phone_number_id: 'phone_number',
  call_id: 'call',
  conversation_id: 'call',
  number: 'number',
  from_number: 'number',
}

const jinja = ['Hi ', '{{ contact.first_name }}', '{{ a.b|upper }}', '{% if x %}', '{% endif %}']
  .concat('{{ [] * 9 }}', '{{ 1 / 0 }}', '{% for i in range(9) %}', '{% endfor %}', '{{', '}}')
  .concat(
    "{{ 'x'.__class__ }}",
    '{# #}',
    '{{ x | no_filter }}',
    '{{ loop.index }}',
    '{% set x = 1 %}',
  )

const dictionary: Readonly<Record<string, readonly string[]>> = {
  provider: ['elevenlabs', 'azure', 'cartesia', 'none', '__proto__'],
  language: ['en', 'en-us', 'EN_US'],
  tz: ['UTC', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe', '+02:00', 'Nowhere', ''],
  external_id: ['', 'order-1'],
  allowed_ips: ['192.0.2.1', '10.0.0.0/8', '2001:db8::/32', '::1/129', 'host'],
  termination_uri: ['sip.example.com', 'sip:[2001:db8::1]:5060', 'nowhere at all'],
  to_number: Array.from({ length: 10 }, (_, digit) => `+1202555010${digit}`),
  tags: ['support', 'en', 'a,b', ''],
}

/** Texts that programs often handle wrongly. */
export const oddTexts: readonly string[] = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud83d\ude00',
  'e\u0301\u202e',
  '\ufeff',
  "'; DROP TABLE agents; --",
  '%_\\"',
  '__proto__',
  'null',
  '1e999',
  'me',
]

const instants = fc.oneof(
  fc.constantFrom(
    '0000-01-01T00:00:00Z',
    '0099-02-28T12:00:00+14:00',
    '1970-01-01T00:00:00Z',
    '2026-03-29T02:30:00.123456789+01:00',
    '2026-11-21T12:00:00Z',
    '9999-12-31T23:59:59.999-23:59',
  ),
  fc
    .date({ min: new Date('2026-09-01'), max: new Date('2027-01-01'), noInvalidDate: true })
    .map((date) => date.toISOString()),
)

/** Arbitrary text of `min` to `max` code points, as JSON Schema counts. */
const text = (min: number, max: number) =>
  fc
    .oneof(
      { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 12 }) },
      { weight: 2, arbitrary: fc.constantFrom(...oddTexts) },
      { weight: 2, arbitrary: fc.array(fc.constantFrom(...jinja), { maxLength: 5 }).map(joined) },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom('x', '\u00e4', '\ud83d\ude00')
          .map((character) => character.repeat(Math.min(max, 6000))),
      },
    )
    .map((value) => [...value].slice(0, max).join('').padEnd(min, 'x'))

const joined = (parts: readonly string[]) => parts.join('')

function stringOf(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const { format, pattern, minLength = 0, maxLength = 10_000 } = schema
  const kind = referenceKinds[name]
  const known = dictionary[name]
  if (format === 'date-time') return instants
  const free =
    typeof pattern === 'string'
      ? fc.stringMatching(new RegExp(pattern))
      : text(Number(minLength), Number(maxLength))
  return fc.oneof(
    { weight: 1, arbitrary: free },
    ...(kind ? [{ weight: 6, arbitrary: reference(kind) }] : []),
    ...(known ? [{ weight: 4, arbitrary: fc.constantFrom(...known) }] : []),
  )
}

function numberOf(schema: Schema): fc.Arbitrary<unknown> {
  const isInteger = schema.type === 'integer'
  const min = Number(schema.minimum ?? -1e9)
  const max = Number(schema.maximum ?? 1e9)
  const near = { min: Math.max(min, -200), max: Math.min(max, Math.max(min, 0) + 200) }
  const within = isInteger ? fc.integer(near) : fc.double({ ...near, noNaN: true })
  return fc.oneof({ weight: 3, arbitrary: within }, fc.constantFrom(min, max))
}

/** Arbitrary JSON, some of it hostile, for fields without a schema and in place of valid values. */
export const anyJson: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  {
    weight: 12,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      0.5,
      1e300,
      -1e300,
      2 ** 53,
      [],
      {},
      [[]],
      ['x', null],
      JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":1}}'),
    ),
  },
  {
    weight: 6,
    arbitrary: fc.constantFrom(...oddTexts, 'x'.repeat(20_000), '\ud83d\ude00'.repeat(40)),
  },
  { weight: 1, arbitrary: fc.constantFrom(...nestings.keys()) },
)

export const anyKey = fc.constantFrom(
  'x',
  '',
  '__proto__',
  'constructor',
  'id',
  'contact',
  'contact.first_name',
  'a.b.c',
  '__proto__.x',
  'a.'.repeat(9000),
)

const oddNumber = fc.constantFrom(-1e300, -1, 0, 0.5, 7, 1e9, 1e16, 1e300)

/**
 * Arbitrary overrides of a call. Their schema allows anything, so this lists the fields that the
 * sandbox reads.
 */
const overrides = fc.record(
  {
    name: anyJson,
    max_duration_seconds: oddNumber,
    initial_message: fc.record({ message: text(0, 200), delay_ms: oddNumber }),
    inactivity_settings: fc.record({
      reminder_timeout_ms: fc.oneof(oddNumber, fc.constant(null)),
      reminder_max_count: oddNumber,
      end_call_timeout_ms: fc.oneof(oddNumber, fc.constant(null)),
    }),
    capture_settings: anyJson,
  },
  { requiredKeys: [] },
)

/** Arbitrary values that match a schema. Throws if the schema is not supported. */
export function valuesOf(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  const { type, anyOf } = schema
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(type)) {
    return fc.oneof(...type.map((one) => valuesOf({ ...schema, type: one }, name)))
  }
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one) => valuesOf(one, name)))
  switch (type) {
    case 'string':
      return stringOf(schema, name)
    case 'integer':
    case 'number':
      return numberOf(schema)
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(isObject(schema.items) ? valuesOf(schema.items, name) : anyJson, {
        maxLength: 3,
      })
    case 'object':
      return name === 'overrides' ? overrides : objectOf(schema)
    case undefined:
      return anyJson
    default:
      throw new Error(`No values for ${JSON.stringify(schema)}`)
  }
}

function objectOf(schema: Schema): fc.Arbitrary<unknown> {
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const required: unknown[] = Array.isArray(schema.required) ? schema.required : []
  const fields = properties.map(([name, inner]) => {
    const value = valuesOf(isObject(inner) ? inner : {}, name)
    // An optional field is absent half of the time, or a fifth of the time if the dictionary has values for it.
    const entry = value.map((one): [string, unknown][] => [[name, one]])
    if (required.includes(name)) return entry
    const weight = name in dictionary ? 4 : 1
    return fc.oneof({ weight: 1, arbitrary: fc.constant([]) }, { weight, arbitrary: entry })
  })
  const more = schema.additionalProperties
    ? fc.array(fc.tuple(anyKey, anyJson), { maxLength: 2 })
    : fc.constant([])
  return fc
    .tuple(fc.tuple(...fields), more)
    .map(([known, others]) => Object.fromEntries([...others, ...known.flat()]))
}
