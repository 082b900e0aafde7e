import { describe, expect, test } from 'vitest'
import { analyse } from '../../src/jinja/index.ts'
import { templateLimits } from '../../src/sandbox/agent-call-settings.ts'
import { hostileSources } from '../harness/hostile-templates.ts'
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

const prompt =
  'You speak with {{ contact.first_name }}. {% if plan == "gold" %}Offer more.{% endif %}\n'

test('a prompt of several hundred kilobytes is checked', () => {
  expect(analyse(prompt.repeat(5000), templateLimits)).toMatchObject({ valid: true, errors: [] })
})

test('a template of a megabyte and more is refused before it is read', () => {
  const { errors } = analyse('x'.repeat(templateLimits.maxLength + 1), templateLimits)
  expect(errors[0]?.type).toBe('too_large')
})

test('variables count as steps: 10,000 are listed, 20,000 are too many', () => {
  const reading = (count: number) =>
    Array.from({ length: count }, (_, index) => `{{ v${index} }}`).join('')
  expect(analyse(reading(10_000), templateLimits).variables).toHaveLength(10_000)
  expect(analyse(reading(20_000), templateLimits).errors[0]?.type).toBe('too_large')
})

// test/jinja/hostile-templates.test.ts measures the CPU time of these checks.
test.each(Object.keys(hostileSources))('the check of %s ends within its limits', (name) => {
  const { errors } = analyse(hostileSources[name]?.() ?? '', templateLimits)
  const cheap = ['a long integer', 'a long name that is undefined', 'names read from deep inside']
  expect(errors.map(({ type }) => type)).toEqual(cheap.includes(name) ? [] : ['too_large'])
})
