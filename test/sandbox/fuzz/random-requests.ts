import fc from 'fast-check'
import { almost } from '../../harness/json-mutations.ts'
import type { Operation, Parameter, Schema } from '../../harness/openapi.ts'
import {
  anyJson,
  oddTexts,
  reference,
  referenceKinds,
  valuesOf,
} from '../../harness/schema-values.ts'

/** A generated request with unresolved references (schema-values.ts). */
export interface Step {
  /** The operation; null if the document does not have it. */
  readonly operation: Operation | null
  readonly method: string
  /** Path and query, URL-encoded except for references. */
  readonly target: string
  readonly body: string | undefined
  readonly key: 'main' | 'subaccount' | 'other' | 'nobody' | 'missing'
  /** Simulated seconds before it is sent. */
  readonly wait: number
}

const key = fc.oneof(
  { weight: 22, arbitrary: fc.constant('main' as const) },
  fc.constantFrom('subaccount' as const, 'other' as const, 'nobody' as const, 'missing' as const),
)
const wait = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.constantFrom(1, 30, 5000))

/**
 * URL-encodes a text. References stay as they are; their values are encoded when they are resolved.
 */
const encoded = (text: string) => (/^@\w+#\d@$/.test(text) ? text : encodeURIComponent(text))

const pathTexts = fc.oneof(
  fc.constantFrom('none', '%00', '%ff', '%2e%2e%2f', 'a%2Fb', encoded('\ud83d\ude00'), '__proto__'),
  fc.constantFrom(...new Set(Object.values(referenceKinds))).chain(reference),
)

/** Value of a path parameter; mostly a valid one. */
function pathValue(name: string): fc.Arbitrary<string> {
  const real = reference(referenceKinds[name] ?? name)
  const usual = name === 'account_id' ? fc.constant('me') : real
  return fc.oneof(
    { weight: 12, arbitrary: usual },
    { weight: 3, arbitrary: real },
    { weight: 1, arbitrary: pathTexts },
  )
}

const queryTexts = fc.constantFrom(
  ...oddTexts,
  '-1',
  '0',
  '1.0',
  '1.5',
  '1e3',
  ' 5',
  '99999999999999999999',
  'True',
  'true',
  '[]',
  'agent,type',
  'agent,',
  '2026-02-30T00:00:00Z',
  '2026-11-21',
  'x'.repeat(5000),
)

/** A query parameter, valid or not; more often absent than present. */
function queryPart({ name, schema, required }: Parameter): fc.Arbitrary<readonly string[]> {
  const asWanted = valuesOf(schema, name).map((value) =>
    (Array.isArray(value) ? value : [value]).map(String),
  )
  const values = fc.oneof(
    { weight: 8, arbitrary: asWanted },
    { weight: 1, arbitrary: fc.array(queryTexts, { minLength: 1, maxLength: 2 }) },
  )
  const parts = values.map((texts) => texts.map((text) => `${name}=${encoded(wellFormed(text))}`))
  return fc.oneof(
    { weight: required ? 1 : 6, arbitrary: fc.constant([]) },
    { weight: required ? 12 : 2, arbitrary: parts },
  )
}

/** Replaces lone surrogates, which a URL cannot contain. */
const wellFormed = (text: string) => text.toWellFormed()

const oddEnding = fc.oneof(
  { weight: 12, arbitrary: fc.constant('') },
  fc
    .constantFrom(
      '&',
      '&=&',
      '&limit=1&limit=2',
      '&%6Cimit=3',
      '&limit',
      '&limit=%ff',
      '&limit[]=1',
    )
    .map((text) => text),
  fc.constantFrom('&__proto__=x&constructor=1', '&offset=0&offset=x', '&x=1&x=2', '+', ';limit=2'),
)

const queryOf = (parameters: readonly Parameter[]) =>
  fc
    .tuple(fc.tuple(...parameters.map(queryPart)), oddEnding)
    .map(([parts, ending]) => parts.flat().join('&') + ending)

/** Text of a body: valid, nearly valid, any JSON, not JSON, or absent. */
function bodyOf(schema: Schema): fc.Arbitrary<string | undefined> {
  const valid = valuesOf(schema)
  const text = (values: fc.Arbitrary<unknown>) => values.map((value) => JSON.stringify(value) ?? '')
  return fc.oneof(
    { weight: 10, arbitrary: text(valid) },
    { weight: 7, arbitrary: text(almost(valid)) },
    { weight: 1, arbitrary: text(anyJson) },
    { weight: 1, arbitrary: text(valid).map((whole) => whole.slice(0, -1)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(undefined, '', ' ', 'null', '[]', "{'a':1}", '\ufeff{}'),
    },
  )
}

/** Arbitrary requests of one operation. */
function stepsOf(operation: Operation): fc.Arbitrary<Step> {
  const { method, path, parameters, body } = operation
  const inPath = parameters.filter((parameter) => parameter.in === 'path')
  const inQuery = parameters.filter((parameter) => parameter.in === 'query')
  return fc
    .record({
      values: fc.tuple(...inPath.map(({ name }) => pathValue(name))),
      query: queryOf(inQuery),
      body: body ? bodyOf(body.schema) : fc.constant(undefined),
      key,
      wait,
    })
    .map(({ values, query, ...rest }) => {
      const named = new Map(inPath.map(({ name }, index) => [name, values[index] ?? '']))
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => named.get(name) ?? '')
      return { operation, method, target: query ? `${filled}?${query}` : filled, ...rest }
    })
}

/** Requests of operations that the document does not describe. */
const strays: fc.Arbitrary<Step> = fc.record({
  operation: fc.constant(null),
  method: fc.constantFrom('PUT', 'OPTIONS', 'HEAD'),
  target: fc.constantFrom(
    '/v1/accounts/me/agents',
    '/v1/accounts/%ff/calls',
    '/v2/x',
    '/',
    '/v1//',
  ),
  body: fc.constant(undefined),
  key,
  wait: fc.constant(0),
})

/**
 * Arbitrary sequences of requests, of all operations or mostly of one noun, so that what one
 * request creates is changed, deleted and read by others. Some requests are sent twice, as after a
 * lost reply.
 */
export function sequencesOf(
  operations: readonly Operation[],
  length: number,
): fc.Arbitrary<Step[]> {
  const all = new Map(operations.map((operation) => [operation, stepsOf(operation)]))
  const any = fc.oneof(...all.values())
  const nouns = [...new Set(operations.map(({ noun }) => noun))].map((noun) =>
    [...all].filter(([operation]) => operation.noun === noun).map(([, steps]) => steps),
  )
  const bounds = { minLength: length, maxLength: length }
  const sequences = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.oneof({ weight: 30, arbitrary: any }, strays), bounds) },
    ...nouns
      .filter((steps) => steps.length > 2)
      .map((steps) => ({
        weight: 1,
        arbitrary: fc.array(
          fc.oneof({ weight: 1, arbitrary: any }, { weight: 4, arbitrary: fc.oneof(...steps) }),
          bounds,
        ),
      })),
  )
  return fc
    .tuple(sequences, fc.array(fc.nat({ max: 4 }), bounds))
    .map(([steps, turns]) => steps.flatMap((step, index) => (turns[index] ? step : [step, step])))
}
