import * as z from 'zod'

/*
 * The one place that knows how a query string is written: arrays as repeated parameters (read
 * separated by commas, too), booleans as true/false. The client encodes with it, the sandbox
 * decodes with it.
 */

/** Writes a query string; absent (`undefined`) fields are left out, arrays are repeated. */
export function encodeQuery(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item))
  }
  return search.toString()
}

/**
 * Reads a query string into what `schema` expects, ready to be parsed with it: text that is no
 * number or boolean stays text, so that the schema reports it. Unknown parameters are dropped.
 */
export function decodeQuery(schema: z.ZodObject, search: URLSearchParams): Record<string, unknown> {
  const query: Record<string, unknown> = {}
  for (const [name, field] of Object.entries(schema.shape)) {
    const texts = search.getAll(name)
    const last = texts.at(-1)
    if (last === undefined) continue
    query[name] = decode(field, last, texts)
  }
  return query
}

function decode(field: z.core.$ZodType, text: string, all: string[]): unknown {
  if (field instanceof z.ZodOptional) return decode(field.unwrap(), text, all)
  // Lists come repeated or separated by commas: the platform takes both [R].
  if (field instanceof z.ZodArray) return all.flatMap((item) => item.split(','))
  if (field instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (field instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text)
  return text
}
