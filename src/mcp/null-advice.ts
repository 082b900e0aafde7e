import * as z from 'zod'
import type { Tool } from './tool.ts'

/** Where it is shown what a field was before anybody changed it, if that is not the same for all. */
const defaultsElsewhere: Readonly<Record<string, string>> = {
  'model.temperature': 'list_models with fields ["settings"] shows the default of a model',
  'model.max_tokens': 'list_models with fields ["settings"] shows the default of a model',
}

/**
 * What to send where null was sent and is not taken: whoever changes something with null means to
 * clear it, and leaving it out would keep it. Begins with a sign; empty when there is nothing to say.
 */
export function insteadOfNull(tool: Tool, path: readonly PropertyKey[]): string {
  const field = fieldAt(tool.input, path)
  if (tool.route.method !== 'PATCH') return field instanceof z.ZodOptional ? '; leave it out' : ''
  const elsewhere = defaultsElsewhere[path.join('.')]
  if (elsewhere) return `; send a value: ${elsewhere}`
  return field ? `; ${clearing(field)}` : ''
}

function clearing(field: z.core.$ZodType): string {
  const type = unwrapped(field)
  if (type instanceof z.ZodArray) return 'send [] to empty it'
  if (type instanceof z.ZodRecord) return 'send null for each of its keys that is to go'
  if (type instanceof z.ZodObject) return ofObject(type)
  const usual = defaultOf(field)
  return usual === undefined
    ? 'leave it out to keep it, or send another value'
    : `send ${JSON.stringify(usual)} for the default`
}

function ofObject({ shape }: z.ZodObject): string {
  const fields = Object.entries<z.core.$ZodType>(shape)
  const nullable = fields.filter(([, field]) => z.safeParse(field, null).success)
  const usual = fields.flatMap(([name, field]) => {
    const value = defaultOf(field)
    return value === undefined ? [] : [[name, value]]
  })
  const advice = [
    ...nullable.map(([name]) => `send {"${name}":null} to have none`).slice(0, 1),
    usual.length > 0 && `send ${JSON.stringify(Object.fromEntries(usual))} for the defaults`,
  ].filter(Boolean)
  const names = fields.map(([name]) => name).join(', ')
  return advice.length > 0 ? advice.join(', or ') : `send values for its fields: ${names}`
}

function fieldAt(input: z.ZodObject, path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let field: z.core.$ZodType | undefined = input
  for (const name of path) {
    const type: z.core.$ZodType | undefined = field && unwrapped(field)
    if (type instanceof z.ZodObject) field = type.shape[String(name)]
    else if (type instanceof z.ZodArray) field = type.element
    else return undefined
  }
  return field
}

const unwrapped = (field: z.core.$ZodType): z.core.$ZodType =>
  field instanceof z.ZodOptional || field instanceof z.ZodNullable
    ? unwrapped(field.unwrap())
    : field

/** What the platform fills in, as the contract documents it. */
const defaultOf = (field: z.core.$ZodType): unknown => z.globalRegistry.get(field)?.default
