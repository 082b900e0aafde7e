import type { TemplateValidation } from '../template.ts'
import type { Examples } from './ids.ts'

const unknownVariable = { type: 'unknown_variable', line: 1, variable: 'order.id' }
const validation: TemplateValidation = {
  valid: true,
  errors: [],
  warnings: [{ ...unknownVariable, message: 'The platform does not know order.id.' }],
  variables: ['contact.first_name', 'order.id'],
  unknown_variables: ['order.id'],
}

export const templateExamples: Examples = {
  'templates.validate.body': {
    template: 'Hello {{ contact.first_name }}, your order {{ order.id }} is on its way.',
    allowed_variables: ['shop.*'],
  },
  'templates.one': validation,
}
