import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { tools } from '../../tools/index.ts'
import { tries } from '../harness/property.ts'
import { valuesOf } from '../harness/schema-values.ts'

const ajv = new Ajv2020({ strict: false, validateFormats: false })

/** Fields that any result may have. */
const ofEveryTool = ['account_id', 'read_as']

/** Names of all fields in a schema, at every depth. */
const namesIn = (schema: unknown): string[] =>
  typeof schema !== 'object' || schema === null
    ? []
    : Object.entries(schema).flatMap(([word, inner]) =>
        word === 'properties'
          ? [...Object.keys(inner), ...Object.values(inner).flatMap(namesIn)]
          : namesIn(inner),
      )

describe.each(tools.map((tool) => [tool.name, tool] as const))('of %s', (_, tool) => {
  const whole = tool.outputSchema()
  const listed = Object(tool.listed('any').outputSchema)

  test('every result that the complete schema allows is allowed by the listed schema', () => {
    const [allows, listedAllows] = [ajv.compile(whole), ajv.compile(listed)]
    let allowed = 0
    const values = valuesOf({ ...whole })
    fc.assert(
      fc.property(values, (value) => {
        if (!allows(value)) return
        allowed += 1
        expect(listedAllows(value), ajv.errorsText(listedAllows.errors)).toBe(true)
      }),
      tries(30),
    )
    expect(allowed).toBeGreaterThan(5)
  })

  test('an empty object is refused by both schemas if a field is required', () => {
    expect(ajv.validate(listed, {})).toBe(ajv.validate(whole, {}))
  })

  test('every field is named, in fewer tokens', () => {
    const text = JSON.stringify(listed)
    const names = namesIn(whole).filter((name) => !ofEveryTool.includes(name))
    expect(names.filter((name) => !new RegExp(`\\b${name}\\b`).test(text))).toEqual([])
    expect(text.length).toBeLessThan(JSON.stringify(whole).length)
  })
})
