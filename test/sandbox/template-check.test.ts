import { describe, expect, test } from 'vitest'
import { startSandbox } from '../harness/sandbox.ts'

describe('templates', () => {
  const validate = async (template: string, allowed_variables?: string[]) => {
    using sandbox = startSandbox()
    const sent = { template, ...(allowed_variables && { allowed_variables }) }
    return (await sandbox.send('POST', 'accounts/me/agents/validate-template', sent)).body
  }

  test('that are valid return the variables that they read', async () => {
    expect(await validate('Hi {{ contact.first_name }} {{ dyn_reason }} {{ contact }}')).toEqual({
      valid: true,
      errors: [],
      warnings: [],
      variables: ['contact.first_name', 'dyn_reason', 'contact'],
      unknown_variables: [],
    })
  })

  test('that read unknown variables are valid, with a warning and its line', async () => {
    const result = await validate('Hi\n{{ order.id }}')
    expect(result).toMatchObject({ valid: true, unknown_variables: ['order.id'] })
    expect(result.warnings[0]).toMatchObject({
      type: 'unknown_variable',
      line: 2,
      variable: 'order.id',
    })
    expect((await validate('{{ order.id }}', ['order'])).warnings).toEqual([])
  })

  test('that cannot be rendered report the line', async () => {
    const result = await validate('Hi\n{% if x %}')
    expect(result.valid).toBe(false)
    expect(result.errors[0]).toMatchObject({ type: 'syntax_error', line: 2 })
  })
})
