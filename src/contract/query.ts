import * as z from 'zod'

/*
 * Query strings, as the client encodes and the sandbox decodes them. The client repeats the
 * parameter for each item of an array. The sandbox also splits a single parameter at its commas.
 * Booleans are `true` or `false`.
 */

/** Writes a query string, without the fields that are `undefined`. */
export function encodeQuery(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? repeated(value) : [value]) {
      search.append(name, String(item))
    }
  }
  return search.toString()
}

/**
 * Doubles a single item that contains a comma. Written once, it would be split into several items,
 * because the platform also accepts comma-separated lists [R]. A repeated item does not change a
 * filter.
 */
const repeated = (items: readonly unknown[]): readonly unknown[] =>
  items.length === 1 && String(items[0]).includes(',') ? [items[0], items[0]] : items

/**
 * Converts the parameters of a query string to the types that `schema` expects, before they are
 * parsed. A text that is no number or boolean stays a text, so that the schema reports it. Unknown
 * parameters are dropped. Empty parameters count as absent [S], because the platform's client
 * libraries send null as an empty parameter.
 */
export function decodeQuery(schema: z.ZodObject, search: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const texts = search.getAll(name).filter((text) => text !== '')
    const last = texts.at(-1)
    if (last === undefined) continue
    query[name] = decode(field, last, texts)
  }
  return query
}

function decode(field: z.core.$ZodType, text: string, all: string[]): unknown {
  if (field instanceof z.ZodOptional) return decode(field.unwrap(), text, all)
  // The platform accepts lists as repeated parameters or separated by commas [R]. In a repeated
  // text parameter, a comma is part of the item [S].
  if (field instanceof z.ZodArray) {
    const isText = field.element instanceof z.ZodString && all.length > 1
    return isText ? all : all.flatMap((item) => item.split(','))
  }
  if (field instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (field instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text)
  return text
}
