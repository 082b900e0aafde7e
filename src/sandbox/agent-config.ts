import * as z from 'zod'

export const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The documented defaults of a contract schema's fields, as one object. */
export function defaultsOf(schema: z.ZodObject): Record<string, unknown> {
  const defaults: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const value = defaultOf(field)
    if (value !== undefined) defaults[name] = value
  }
  return defaults
}

function defaultOf(field: z.core.$ZodType): unknown {
  const documented = z.globalRegistry.get(field)?.default
  if (documented !== undefined) return documented
  if (field instanceof z.ZodOptional || field instanceof z.ZodNullable)
    return defaultOf(field.unwrap())
  if (!(field instanceof z.ZodObject)) return undefined
  const nested = defaultsOf(field)
  return Object.keys(nested).length > 0 ? nested : undefined
}

/** An object without its fields that are null. */
export const withoutNulls = (object: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))

/** Merges a partial update into a stored object: objects field by field, other values replaced. */
export function merge(
  stored: Readonly<Record<string, unknown>>,
  changes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = { ...stored }
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || name === '__proto__') continue
    const before = merged[name]
    merged[name] = isPlainObject(value) && isPlainObject(before) ? merge(before, value) : value
  }
  return merged
}
