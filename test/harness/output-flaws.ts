import { Ajv2020 } from 'ajv/dist/2020.js'
import { tools } from '../../tools/index.ts'

/**
 * Violations of a tool's output schema: of its form in tools/list (`listed`), or of its complete
 * form. `undefined` if there are none.
 */
export function outputFlaws(name: string, result: unknown, listed: object): unknown {
  const whole = tools.find((tool) => tool.name === name)?.outputSchema()
  if (!whole) throw new Error(`No tool ${name}`)
  for (const schema of [listed, whole]) {
    const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    if (!validate(result)) return validate.errors
  }
  return undefined
}
