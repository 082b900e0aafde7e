import type { JsonSchema } from '../../contract/json-schema.ts'
import { closestWord, sameWord } from '../../text/closest-match.ts'
import type { AbsentFields } from '../../tool/tool.ts'
import { CommandLineError } from '../config/config-error.ts'

/** Where a flag puts its value in the arguments of a tool. */
export interface ArgumentPlace {
  readonly path: readonly string[]
  /** What the value may be; `{}` for free data. */
  readonly schema: JsonSchema
}

/** The flag of an argument: `--max-duration-seconds`, or `--model.provider` for a field of an object. */
export const flagOf = (path: readonly string[]): string =>
  `--${path.map((name) => name.replaceAll('_', '-')).join('.')}`

/** The schema of a field; `{}` where it may be anything. */
export const fieldSchema = ({ properties = {} }: JsonSchema, name: string): JsonSchema =>
  Object.hasOwn(properties, name) ? { ...Object(properties[name]) } : {}

/** An object whose fields are the user's own. */
export const isFree = (schema: JsonSchema): boolean =>
  schema.type === undefined || schema.additionalProperties === true

/**
 * Whether an argument takes any words: a filter or a name. Ids, codes and what is chosen from a list are
 * no such texts.
 */
export const isFreeText = ({ path, schema }: ArgumentPlace): boolean =>
  schema.type === 'string' &&
  schema.enum === undefined &&
  schema.format === undefined &&
  (schema.maxLength !== undefined || (path.length === 1 && !/_(id|uri)$/.test(path[0] ?? '')))

/**
 * The place that the name of a flag stands for: names of the schema with hyphens or underscores, fields
 * by dots. Names of free data stay as they are. Throws CommandLineError.
 */
export function argumentPlace(
  name: string,
  schema: JsonSchema,
  hints: UnknownNameHints = {},
): ArgumentPlace {
  const path: string[] = []
  let at = schema
  for (const segment of name.split('.')) {
    if (segment === '' || segment === '__proto__')
      throw new CommandLineError(`--${name} names no argument.`)
    if (path.length > 0 && at.type !== 'object' && at.type !== undefined)
      throw new CommandLineError(`${flagOf(path)} is ${typeInWords(at)}, which has no fields.`)
    const known = knownName(segment, at)
    if (known === undefined && !(path.length > 0 && isFree(at)))
      throw unknownArgument(name, { ...hints, path, segment, schema: at })
    path.push(known ?? segment)
    at = known === undefined ? {} : fieldSchema(at, known)
  }
  return { path, schema: at }
}

/** The place, or nothing where there is none. */
export function knownPlace(name: string, schema: JsonSchema): ArgumentPlace | undefined {
  try {
    return argumentPlace(name, schema)
  } catch (error) {
    if (error instanceof CommandLineError) return undefined
    throw error
  }
}

const knownName = (segment: string, { properties = {} }: JsonSchema): string | undefined =>
  [segment, segment.replaceAll('-', '_')].find((one) => Object.hasOwn(properties, one))

/** What a name means that is no argument. */
export interface UnknownNameHints {
  /** Names of the program's settings. */
  readonly settings?: readonly string[]
  /** Names for what the API does not have, with what to do instead. */
  readonly absent?: AbsentFields
}

interface Unknown extends UnknownNameHints {
  readonly path: readonly string[]
  readonly segment: string
  readonly schema: JsonSchema
}

function unknownArgument(
  name: string,
  { path, segment, schema, settings = [], absent = {} }: Unknown,
): CommandLineError {
  const there = `There is no argument --${name}.`
  if (path.length === 0 && settings.includes(name)) {
    return new CommandLineError(
      `${there} --${name} is a setting of the program, which stands before the name of the tool.`,
    )
  }
  const missing = sameWord(name, Object.keys(absent))
  if (missing !== undefined) return new CommandLineError(`${there} ${absent[missing]}`)
  const known = Object.keys(schema.properties ?? {})
  const meant = closestWord(segment, known)
  const flags = known.map((one) => flagOf([...path, one]))
  if (meant !== undefined)
    return new CommandLineError(`${there} Did you mean ${flagOf([...path, meant])}?`)
  const all = flags.length === 0 ? 'The tool takes none.' : `There are ${flags.join(', ')}.`
  return new CommandLineError(`${there} ${all}`)
}

/** The type of an argument, in words. */
export function typeInWords({ type, items }: JsonSchema): string {
  if (type === 'array')
    return Object(items).type === 'object' ? 'a list of objects' : 'a list of texts'
  const words: Readonly<Record<string, string>> = {
    string: 'a text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
    object: 'an object',
  }
  return words[String(type)] ?? 'free data'
}
