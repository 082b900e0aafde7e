import type { JsonSchema } from '../../contract/json-schema.ts'
import { isObject } from '../../json/is-object.ts'
import { fieldSchema, flagOf } from './argument-place.ts'

/** Arguments of a tool as words of a command line: the reverse of `readToolArguments`. */
export function argumentWords(
  values: Readonly<Record<string, unknown>>,
  schema: JsonSchema,
  path: readonly string[] = [],
): string[] {
  return Object.entries(values).flatMap(([name, value]) => {
    const here = [...path, name]
    const field = fieldSchema(schema, name)
    const flag = flagOf(here)
    if (typeof value === 'boolean') return [value ? flag : flag.replace('--', '--no-')]
    if (Array.isArray(value)) return listWords(flag, value)
    if (isObject(value))
      return field.properties && Object.keys(value).length > 0
        ? argumentWords(value, field, here)
        : [flag, JSON.stringify(value)]
    return textWords(flag, String(value))
  })
}

/** An item each, where they are plain texts. */
function listWords(flag: string, items: readonly unknown[]): string[] {
  const isPlain = items.every((item) => typeof item === 'string' && !/^\s*[[{]|,/.test(item))
  return isPlain && items.length > 0
    ? items.flatMap((item) => textWords(flag, String(item)))
    : [flag, JSON.stringify(items)]
}

/** A value that looks like a flag stands in the same word. */
const textWords = (flag: string, text: string) =>
  text.startsWith('--') ? [`${flag}=${text}`] : [flag, text]
