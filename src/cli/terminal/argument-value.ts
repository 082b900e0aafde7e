import { CommandLineError } from '../../config/config-error.ts'
import type { JsonSchema } from '../../contract/json-schema.ts'
import { parseJsonText } from '../../json/unique-keys.ts'
import { typeInWords } from './argument-place.ts'

/**
 * The text of a flag as the value of its argument. What cannot be one stays a text, which the tool
 * refuses in its own words, as it does for any client. Throws CommandLineError for JSON that is none.
 */
export function argumentValue(flag: string, text: string, schema: JsonSchema): unknown {
  const { type } = schema
  if (type === 'integer' || type === 'number') return numberIn(text) ?? text
  if (type === 'boolean') return { true: true, false: false }[text] ?? text
  if (type === 'object') {
    if (/^'?\s*\{/.test(text)) return jsonIn(flag, text)
    throw new CommandLineError(
      `${flag} is ${typeInWords(schema)}: give it as JSON, or its fields as ${flag}.NAME.`,
    )
  }
  if (type === 'array') return listIn(flag, text, schema)
  return text
}

/** JSON that a person has written. Throws CommandLineError. */
export function jsonIn(flag: string, text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CommandLineError(`${flag} is not valid JSON: ${reason}.${quotesHint(text)}`)
  }
}

/** PowerShell 5 and cmd take away quotation marks, of which JSON with names or texts has some. */
const quotesHint = (text: string) =>
  /^'?\s*[{[][^"]*[a-z][^"]*$/i.test(text)
    ? ' Names and texts need double quotation marks. The shell may have removed them: a file keeps them (--args @FILE).'
    : ''

/** A number in decimal digits, if it is kept exactly. */
function numberIn(text: string): number | undefined {
  const value = Number(text)
  const isDecimal = /^-?\d+(\.\d+)?$/.test(text)
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
  return isDecimal && isExact ? value : undefined
}

/**
 * A list as JSON, or one item of it: of objects that need one field only, that field. The tool itself divides texts with commas, where they can be.
 */
function listIn(flag: string, text: string, { items }: JsonSchema): unknown {
  if (/^'?\s*\[/.test(text)) return jsonIn(flag, text)
  const item: JsonSchema = { ...Object(items) }
  if (item.type === 'object' && /^'?\s*\{/.test(text)) return [jsonIn(flag, text)]
  const [only, ...others] = item.required ?? []
  if (only !== undefined && others.length === 0) return [{ [only]: text }]
  return text.includes(',') ? text : [text]
}
