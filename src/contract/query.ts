import * as z from 'zod'

/*
 * The one place that knows how a query string is written: arrays as repeated parameters (one that is
 * not repeated is read as separated by commas), booleans as true/false. The client encodes with it,
 * the sandbox decodes with it.
 */

/** Writes a query string; absent (`undefined`) fields are left out, arrays are repeated. */
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
 * One item with a comma is written twice: written once, it is a list of several to a platform that
 * takes lists separated by commas, too [R]. No list of a query means more by an item that stands twice.
 */
const repeated = (items: readonly unknown[]): readonly unknown[] =>
  items.length === 1 && String(items[0]).includes(',') ? [items[0], items[0]] : items

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
  // Lists come repeated or separated by commas: the platform takes both [R]. What is repeated keeps
  // its commas where they may be part of a text [S].
  if (field instanceof z.ZodArray) {
    const isText = field.element instanceof z.ZodString && all.length > 1
    return isText ? all : all.flatMap((item) => item.split(','))
  }
  if (field instanceof z.ZodNumber) return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
  if (field instanceof z.ZodBoolean) return text === 'true' || (text === 'false' ? false : text)
  return text
}
