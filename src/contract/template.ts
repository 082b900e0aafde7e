import * as z from 'zod'
import { isObject } from '../text/json.ts'
import { accountParams, withDefault } from './field.ts'
import { route } from './route.ts'

/** Variables that the platform always knows [R]. */
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

/** Prefix of variables that get their values only after the call [R]. */
export const dynamicPrefix = 'dyn_'

const TemplateIssue = z.looseObject({
  type: z
    .string()
    .describe(
      'syntax_error, undefined_tag, unknown_filter, unknown_test, unknown_variable, too_large, too_deep, or another.',
    ),
  message: z.string().describe('Problem.'),
  line: z.int().nullish().describe('Line in the template, from 1.'),
  variable: z.string().nullish().describe('The variable concerned.'),
})
export type TemplateIssue = z.output<typeof TemplateIssue>

/**
 * Result of a template validation [B]. An unknown variable is a warning, not an error [R]. Only
 * `valid` is required; an absent list counts as empty [R].
 */
export const TemplateValidation = z.looseObject({
  valid: z.boolean().describe('True when the template renders.'),
  errors: z.array(TemplateIssue).default([]).describe('Problems that prevent rendering.'),
  warnings: z.array(TemplateIssue).default([]).describe('Possible mistakes.'),
  variables: z.array(z.string()).default([]).describe('Variable paths in the template.'),
  unknown_variables: z
    .array(z.string())
    .default([])
    .describe('Paths that the platform does not know.'),
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
        .nullish()
        .describe('Paths of your own variables, to count as known.'),
    }),
    reply: TemplateValidation,
    effect: 'reads',
  }),
}

type Variables = Readonly<Record<string, unknown>>

/** Maximum number of names in a dotted path. Further names are ignored. */
const deepestPath = 20

/**
 * The variables that a template sees in a call with these `test_variables`, which are nested [R].
 * They override the platform's variables. A key with dots, such as `order.id`, sets `id` of `order`
 * [S]. An object for an existing object, such as `contact`, replaces only the fields that it has
 * [S].
 */
export function withTestVariables(known: Variables, testVariables: Variables): Variables {
  const variables: Record<string, unknown> = { ...known }
  for (const [path, value] of Object.entries(testVariables)) {
    put(variables, path.split('.', deepestPath), value)
  }
  return variables
}

function put(into: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (name === '__proto__') return
  const before = into[name]
  if (rest.length === 0) {
    into[name] = isObject(value) && isObject(before) ? { ...before, ...value } : value
    return
  }
  const inner = isObject(before) ? { ...before } : {}
  put(inner, rest, value)
  into[name] = inner
}
