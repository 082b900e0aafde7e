import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../src/contract/openapi.ts'
import { allRoutes } from '../../src/contract/routes.ts'
import { at, type BodySpec, operationsOf } from '../harness/openapi.ts'

const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes)))
const operations = operationsOf(document)

function operation(id: string) {
  const found = operations.find((candidate) => candidate.id === id)
  if (!found) throw new Error(`No operation ${id}`)
  return found
}

test('an independent validator finds the OpenAPI document valid 3.1', async () => {
  const validator = new Validator()
  const result = await validator.validate(document)
  expect(result.errors ?? []).toEqual([])
  expect(result.valid).toBe(true)
  expect(validator.version).toBe('3.1')
})

test('it is titled and versioned as documented', () => {
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: expect.stringContaining('v1'), version: '1.0.0' },
  })
})

test('it has every route, with its success status and the error envelope', () => {
  expect(operations).toHaveLength(allRoutes.length)
  for (const route of allRoutes) {
    const { method, path, responses } = operation(route.id.replace('.', '_'))
    expect([method, path]).toEqual([route.method, route.path])
    expect([...responses.keys()]).toContain(route.success)
    expect(responses.get(route.success)?.body === null).toBe(route.reply === null)
    for (const status of [400, 401, 403, 404, 422, 429, 500]) {
      const schema = responses.get(status)?.body?.schema
      expect(schema).toEqual({ $ref: '#/components/schemas/ErrorEnvelope' })
    }
  }
})

test('only operations that can conflict document 409', () => {
  const conflicting = operations.filter(({ responses }) => responses.has(409))
  expect(conflicting.map(({ id }) => id)).toEqual([
    'phone_numbers_create',
    'phone_numbers_update',
    'sip_trunks_delete',
  ])
})

test('it documents how long to wait after too many requests', () => {
  for (const { responses } of operations) {
    expect(responses.get(429)?.headers).toHaveProperty(['Retry-After', 'schema', 'type'], 'integer')
  }
})

test('it documents that a repeated external_id is answered with the first call', () => {
  const { responses } = operation('calls_place')
  expect(responses.get(200)?.body?.schema).toEqual(responses.get(201)?.body?.schema)
  const others = operations.filter(({ responses }) => responses.has(200) && responses.has(201))
  expect(others.map(({ id }) => id)).toEqual(['calls_place'])
})

test('it documents that every account_id can be me', () => {
  const named = operations.filter(({ path }) => path.includes('{account_id}'))
  expect(named).toHaveLength(allRoutes.length - 1)
  for (const { parameters } of named) {
    expect(parameters.find(({ name }) => name === 'account_id')).toMatchObject({
      description: expect.stringContaining('`me`'),
      example: 'me',
    })
  }
})

test('every reference has a target, and every component is used', () => {
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, to]) => String(to)))
  for (const reference of references) expect(at(document, reference), reference).toBeDefined()
  for (const kind of ['parameters', 'responses', 'examples']) {
    for (const name of Object.keys(document.components[kind])) {
      expect(references).toContain(`#/components/${kind}/${name}`)
    }
  }
})

/** Checks all examples of a body; there must be at least one. */
function checkExamples(where: string, body: BodySpec | null | undefined) {
  if (!body) return
  expect(Object.keys(body.examples).length, where).toBeGreaterThan(0)
  for (const [name, { value }] of Object.entries(body.examples)) {
    body.validate(value)
    expect(body.validate.errors ?? [], `${where}: ${name}`).toEqual([])
  }
}

test.each(operations)('$id has examples of bodies and replies that match its schemas', (one) => {
  checkExamples('body', one.body)
  for (const [status, { body }] of one.responses) checkExamples(String(status), body)
})

test('error examples have the code of their status, and a refused field is named', () => {
  for (const { responses } of operations) {
    for (const [status, { body }] of responses) {
      const values = Object.values(body?.examples ?? {}).map(({ value }) => value)
      if (status === 404)
        expect(values).toMatchObject([{ code: 'not_found' }, { code: 'not_found' }])
      if (status === 422) expect(values).toMatchObject([{ errors: [{ type: 'missing' }, {}] }])
    }
  }
})

test('parameters have examples that match their schemas', () => {
  const parameters = operations.flatMap((one) => one.parameters)
  for (const { name, schema, example, validate } of parameters) {
    if (example !== undefined) validate(example)
    expect(validate.errors ?? [], name).toEqual([])
    const isClear = 'enum' in schema || schema.type === 'boolean' || /_(gt|le)$/.test(name)
    expect(example !== undefined || isClear, name).toBe(true)
  }
})

test('requests allow unknown fields, and show bounds and defaults', () => {
  const schema = operation('agents_create').body?.schema
  expect(schema?.additionalProperties).toBeUndefined()
  expect(schema).toHaveProperty('properties.max_duration_seconds', {
    anyOf: [{ type: 'integer', minimum: 10, maximum: 43200 }, { type: 'null' }],
    default: 1200,
    description: expect.any(String),
  })
})

test('it has the bounds of queries and nested fields, and the defaults of create bodies', () => {
  const { parameters } = operation('usage_get')
  expect(parameters.find(({ name }) => name === 'limit')?.schema).toMatchObject({
    minimum: 1,
    maximum: 500,
    default: 500,
  })
  const agent = operation('agents_create').body?.schema
  expect(agent).toMatchObject({
    required: ['model', 'transcriber', 'voice'],
    properties: {
      name: { anyOf: [{ maxLength: 50 }, { type: 'null' }] },
      note: { anyOf: [{ maxLength: 5000 }, { type: 'null' }] },
      initial_message: {
        anyOf: [
          {
            properties: {
              delay_ms: { anyOf: [{ minimum: 0, maximum: 5000 }, { type: 'null' }], default: 0 },
            },
          },
          { type: 'null' },
        ],
      },
      model: { required: ['provider', 'model'] },
      voice: { required: ['provider', 'voice_id'] },
      volume: {
        anyOf: [
          {
            properties: {
              web: { anyOf: [{ minimum: 0, maximum: 1 }, { type: 'null' }], default: 0.5 },
            },
          },
          { type: 'null' },
        ],
      },
    },
  })
  const update = JSON.stringify(operation('agents_update').body?.schema)
  expect(update).toContain('"maximum":43200')
  expect(update).not.toContain('"default"')
})
