import { expect, test } from 'vitest'
import {
  differences,
  operationsIn,
  type SchemaFields,
  schemaFields,
} from '../../../src/cli/doctor/openapi-differences.ts'
import { openApiDocument } from '../../../src/contract/openapi.ts'
import { allRoutes } from '../../../src/contract/routes.ts'

const contract = () => JSON.parse(JSON.stringify(openApiDocument(allRoutes)))

/** Light and text of each difference between a document and the contract. */
function compared(document: unknown) {
  const [ours, theirs] = [operationsIn(contract()), operationsIn(document)]
  if (!ours || !theirs) throw new Error('It is not an OpenAPI document')
  const found = differences(ours, theirs, (id) => (id === undefined ? [] : [`tool of ${id}`]))
  return found.map(({ light, text }) => `${light}: ${text}`)
}

const agents = '/v1/accounts/{account_id}/agents'
const calls = '/v1/accounts/{account_id}/calls'

test('the own document has no differences', () => {
  expect(compared(contract())).toEqual([])
})

test('a missing operation is what its tools cannot do, also under a new path', () => {
  const document = contract()
  document.paths['/v1/accounts/{account_id}/outbound-calls'] = { post: document.paths[calls].post }
  delete document.paths[calls].post
  const found = compared(document)
  expect(found[0]).toMatch(/^red: POST \S+\/calls .*\/outbound-calls .*: tool of calls_place /)
  expect(found.at(-1)).toMatch(/^green: POST \S+\/outbound-calls /)
})

test('other names of path parameters, and paths without the version, are no difference', () => {
  const document = contract()
  const paths = Object.entries(document.paths).map(([path, item]) => [
    path.replace('/v1', '').replace('{account_id}', '{accountId}'),
    item,
  ])
  expect(compared({ ...document, paths: Object.fromEntries(paths) })).toEqual([])
})

test('a renamed parameter has no effect any more', () => {
  const document = contract()
  const parameter = document.paths[calls].get.parameters.find(
    ({ name }: { name?: string }) => name === 'direction',
  )
  parameter.name = 'call_direction'
  expect(compared(document)).toEqual([
    expect.stringMatching(/^yellow: tool of calls_list: .* direction .* call_direction /),
  ])
})

test('a new field of a request is good to know, and an error where it is required', () => {
  const document = contract()
  const { schema } = document.paths[agents].post.requestBody.content['application/json']
  schema.properties.mood = { type: 'string' }
  schema.properties.model.properties.region = { type: 'string' }
  schema.properties.consent = { type: 'boolean' }
  schema.required.push('consent')
  expect(compared(document)).toEqual([
    expect.stringMatching(/^red: tool of agents_create: .* consent /),
    expect.stringMatching(/^green: tool of agents_create: .* model\.region /),
    expect.stringMatching(/^green: tool of agents_create: .* mood /),
  ])
})

test('fields of results that are new or missing are told, in pages as well', () => {
  const document = contract()
  const { properties } = document.components.schemas.SipTrunk
  properties.region = { type: 'string' }
  delete properties.termination_uri
  const found = compared(document)
  expect(found).toContainEqual(
    expect.stringMatching(/^green: tool of sip_trunks_list: .* items\.region\b/),
  )
  expect(found).toContainEqual(
    expect.stringMatching(/^green: tool of sip_trunks_get: .* termination_uri\b/),
  )
})

test('a document that the platform writes in another style is read the same', () => {
  const document = contract()
  const post = document.paths[agents].post
  const { schema } = post.requestBody.content['application/json']
  const { model, ...properties } = schema.properties
  document.components.schemas.ModelIn = model
  document.components.schemas.AgentIn = {
    allOf: [
      { ...schema, properties },
      {
        type: 'object',
        properties: {
          model: { anyOf: [{ $ref: '#/components/schemas/ModelIn' }, { type: 'null' }] },
        },
      },
    ],
  }
  post.requestBody.content['application/json'].schema = { $ref: '#/components/schemas/AgentIn' }
  post.parameters.push({ name: 'X-API-Key', in: 'header', required: true })
  expect(compared(document)).toEqual([])
})

test.each([
  ['null', null],
  ['a list', []],
  ['no paths', { openapi: '3.1.0' }],
  ['paths that are a text', { paths: 'none' }],
])('%s is no OpenAPI document', (_, document) => {
  expect(operationsIn(document)).toBeUndefined()
})

test('odd documents are read to their end', () => {
  const loop = { $ref: '#/components/schemas/Loop' }
  const document = contract()
  document.components.schemas.Loop = {
    properties: Object.fromEntries(
      Array.from({ length: 50 }, (_, at) => [`field${at}`, loop] as const),
    ),
    allOf: [loop, loop],
    items: loop,
  }
  const item = document.paths[agents].post.requestBody.content['application/json']
  item.schema = loop
  document.paths['/v1/odd'] = { get: null, post: { parameters: [null, 'x', { in: 'query' }] } }
  document.paths['/v1/none'] = null
  expect(compared(document)).toEqual([expect.stringMatching(/^green: POST \/v1\/odd /)])
})

test('a schema that refers to itself is read up to a limit', () => {
  const self = { $ref: '#/components/schemas/Self' }
  const names = Array.from({ length: 50 }, (_, at) => `field${at}`)
  const properties = Object.fromEntries(names.map((name) => [name, self]))
  const fields = schemaFields(self, { components: { schemas: { Self: { properties } } } })
  const count = (some: SchemaFields): number =>
    [...some.values()].reduce((sum, { fields: inner }) => sum + 1 + count(inner), 0)
  expect(count(fields)).toBeGreaterThan(names.length)
  expect(count(fields)).toBeLessThanOrEqual(2000)
})
