import type { JsonSchema } from '../../contract/json-schema.ts'
import { accountArguments } from '../../mcp/call/listed-schema.ts'
import { fieldSchema, flagOf, isFree } from './argument-place.ts'

/** An argument as the help shows it. */
export interface ArgumentRow {
  readonly path: readonly string[]
  readonly schema: JsonSchema
  /** Such as `--limit NUMBER`. */
  readonly usage: string
  /** It has to be given, always. */
  readonly isRequired: boolean
  readonly meaning: string
}

/** All arguments of a tool; the fields of an object stand in its place. `pinned`: see --account. */
export function argumentRows(
  schema: JsonSchema,
  { pinned }: { readonly pinned: boolean },
): ArgumentRow[] {
  const left: readonly string[] = pinned ? accountArguments : []
  return rowsOf(schema, [], true).filter(({ path }) => !left.includes(path[0] ?? ''))
}

/** `isGiven`: the object that has the fields is always given. */
function rowsOf(schema: JsonSchema, path: readonly string[], isGiven: boolean): ArgumentRow[] {
  return Object.keys(schema.properties ?? {}).flatMap((name) => {
    const field = fieldSchema(schema, name)
    const here = [...path, name]
    const isRequired = isGiven && (schema.required?.includes(name) ?? false)
    const inner = field.type === 'object' ? rowsOf(field, here, isRequired) : []
    return inner.length > 0 ? inner : [rowOf(here, field, isRequired)]
  })
}

function rowOf(path: readonly string[], schema: JsonSchema, isRequired: boolean): ArgumentRow {
  const flag = flagOf(path)
  return {
    ...{ path, schema, isRequired },
    usage: usageOf(flag, schema),
    meaning: meaningOf(schema, isRequired),
  }
}

function usageOf(flag: string, schema: JsonSchema): string {
  if (schema.type === 'boolean') return schema.default === true ? flag.replace('--', '--no-') : flag
  return `${flag} ${valueWord(schema)}`
}

/** What an argument takes, in one word. */
function valueWord(schema: JsonSchema): string {
  const { type, format, items } = schema
  if (schema.enum) return schema.enum.join('|')
  if (type === 'array')
    return `${Object(items).type === 'object' ? 'JSON' : valueWord({ ...Object(items) })} …`
  if (type === 'object') return 'JSON'
  if (type === 'integer' || type === 'number') return 'NUMBER'
  return format === 'date-time' ? 'TIME' : 'TEXT'
}

function meaningOf(schema: JsonSchema, isRequired: boolean): string {
  const { description = '', default: usual, type } = schema
  return [
    isRequired && 'Required.',
    // On the wire null clears a field; in a tool's arguments clear names it.
    description.replace('null:', 'cleared:'),
    !/\d to \d/.test(description) && boundsOf(schema),
    type === 'array' && 'Several: once for each, or JSON.',
    type === 'object' && isFree(schema) && 'Its fields: .NAME TEXT.',
    usual !== undefined && usual !== '' && usual !== false && `Default ${String(usual)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, maxLength, maxItems } = schema
  if (minimum !== undefined && maximum !== undefined) return `${minimum} to ${maximum}.`
  if (maximum !== undefined) return `At most ${maximum}.`
  if (minimum !== undefined) return `At least ${minimum}.`
  if (maxLength !== undefined) return `At most ${maxLength} characters.`
  return maxItems === undefined ? '' : `At most ${maxItems}.`
}
