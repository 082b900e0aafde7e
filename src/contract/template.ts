import * as z from 'zod'
import { accountParams, withDefault } from './field.ts'
import { route } from './route.ts'

/** Variables the platform always knows [R]. */
export const knownVariables = [
  'contact.first_name',
  'contact.last_name',
  'contact.full_name',
  'contact.email',
  'contact.phone_number',
  'current_datetime',
  'timezone',
  'direction',
  'medium',
  'agent_uuid',
  'agent_number',
  'contact_number',
] as const

/** Prefix of variables that are filled after the call [R]. */
export const dynamicPrefix = 'dyn_'

const TemplateIssue = z.looseObject({
  type: z
    .string()
    .describe(
      'syntax_error, undefined_tag, unknown_filter, unknown_test, unknown_variable, too_large, too_deep, or another.',
    ),
  message: z.string().describe('What is wrong.'),
  line: z.int().nullish().describe('Line in the template, from 1.'),
  variable: z.string().nullish().describe('The variable concerned.'),
})
export type TemplateIssue = z.output<typeof TemplateIssue>

/** Result of a template validation [B]. An unknown variable is a warning, not an error [R]. */
export const TemplateValidation = z.looseObject({
  valid: z.boolean().describe('True when the template renders.'),
  errors: z.array(TemplateIssue).describe('What keeps it from rendering.'),
  warnings: z.array(TemplateIssue).describe('What may be a mistake.'),
  variables: z.array(z.string()).describe('Variable paths it reads.'),
  unknown_variables: z.array(z.string()).describe('Those the platform does not know.'),
})
export type TemplateValidation = z.output<typeof TemplateValidation>

export const templateRoutes = {
  validate: route({
    id: 'templates.validate',
    method: 'POST',
    path: '/v1/accounts/{account_id}/agents/validate-template',
    summary: 'Check a prompt template without saving anything.',
    params: accountParams,
    body: z.object({
      template: withDefault(z.string().describe('Jinja template.'), ''),
      allowed_variables: z
        .array(z.string())
        .nullable()
        .optional()
        .describe('Variable paths of your own to treat as known.'),
    }),
    reply: TemplateValidation,
    effect: 'reads',
  }),
}
