import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { openApiDocument } from '../../src/contract/openapi.ts'
import { allRoutes } from '../../src/contract/routes.ts'

const document = JSON.parse(JSON.stringify(openApiDocument(allRoutes)))

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

test('it holds every route, with its success status and the error envelope', () => {
  for (const route of allRoutes) {
    const operation = document.paths[route.path][route.method.toLowerCase()]
    expect(Object.keys(operation.responses)).toContain(String(route.success))
    for (const status of ['400', '401', '403', '404', '422', '500']) {
      expect(operation.responses[status].content['application/json'].schema).toEqual({
        $ref: '#/components/schemas/ErrorEnvelope',
      })
    }
  }
  const operations = Object.values(document.paths).flatMap((path) => Object.keys(path as object))
  expect(operations).toHaveLength(allRoutes.length)
})

test('every reference leads somewhere', () => {
  const references = JSON.stringify(document).match(/"\$ref":"[^"]+"/g) ?? []
  expect(references.length).toBeGreaterThan(29)
  for (const reference of new Set(references)) {
    const name = reference.replace(/^.*\//, '').replace('"', '')
    expect(document.components.schemas, name).toHaveProperty(name)
  }
})

test('requests take unknown fields, and show bounds and defaults', () => {
  const body =
    document.paths['/v1/accounts/{account_id}/agents'].post.requestBody.content['application/json']
      .schema
  expect(body.additionalProperties).toBeUndefined()
  expect(body.properties.max_duration_seconds).toMatchObject({
    minimum: 10,
    maximum: 43200,
    default: 1200,
  })
})
