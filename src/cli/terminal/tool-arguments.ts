import { type JsonSchema, schemaOf } from '../../contract/json-schema.ts'
import { closestWord, sameWord } from '../../text/closest-match.ts'
import { isObject, parseJsonText } from '../../text/json.ts'
import { firstCharacters, messageOf, safeLine } from '../../text/safe-text.ts'
import { isClearable } from '../../tool/clear-argument.ts'
import type { AbsentFields, Tool } from '../../tool/tool.ts'
import { CommandLineError } from '../config/config-error.ts'
import { typeWords } from '../config/config-file.ts'
import { commandLine } from '../config/launch-command.ts'
import { serviceSettings } from '../config/service-settings.ts'
import type { Terminal } from './terminal-io.ts'

const longestShown = 64

/** The tool of this name, with underscores or hyphens. */
export const findTool = (name: string, tools: readonly Tool[]): Tool | undefined =>
  tools.find((tool) => tool.name === name.replaceAll('-', '_'))

/** Finds a tool by name. Throws CommandLineError for an unknown name. */
export function toolNamed(name: string, tools: readonly Tool[]): Tool {
  const found = findTool(name, tools)
  if (found) return found
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(name, names)
  const hint =
    meant === undefined ? `${commandLine('tools')} lists them.` : `Did you mean ${meant}?`
  throw new CommandLineError(
    `There is no tool ${safeLine(firstCharacters(name, longestShown))}. ${hint}`,
  )
}

export interface ToolArguments {
  readonly arguments: Record<string, unknown>
  readonly wantsJson: boolean
  readonly wantsHelp: boolean
}

/** Where argument values come from, besides the command line: files and standard input. */
type TextSources = Pick<Terminal, 'readFile' | 'readInput'>

/**
 * The command's own flags, which may follow the name of the tool. No tool has arguments of these
 * names.
 */
export const ownFlags = {
  args: 'All arguments as JSON: as text, @FILE from a file, - from standard input.',
  json: 'Print the result as JSON.',
  help: 'Show the arguments of the tool.',
} as const

/** Reads the words after the name of a tool. Throws CommandLineError. */
export async function readToolArguments(
  words: readonly string[],
  tool: Tool,
  sources: TextSources,
): Promise<ToolArguments> {
  const given: Record<string, unknown> = {}
  let whole: Record<string, unknown> | undefined
  let wantsJson = false
  let wantsHelp = false
  const left = [...words]
  for (let word = left.shift(); word !== undefined; word = left.shift()) {
    if (word === '--json') wantsJson = true
    else if (word === '--help' || word === '-h') wantsHelp = true
    else if (word === '--args' || word.startsWith('--args=')) {
      if (whole) throw new CommandLineError('--args is given twice.')
      const text = word === '--args' ? left.shift() : word.slice('--args='.length)
      whole = await wholeArguments(text, sources)
    } else {
      const { place, value } = await readFlag(word, left, tool, sources)
      add(given, place, value)
    }
  }
  return { arguments: merged(whole ?? {}, given), wantsJson, wantsHelp }
}

/** Object from `--args`. */
async function wholeArguments(
  text: string | undefined,
  { readFile, readInput }: TextSources,
): Promise<Record<string, unknown>> {
  if (text === undefined)
    throw new CommandLineError('--args needs JSON, @FILE, or - for standard input.')
  const file = text.startsWith('@') ? await readFile(text.slice(1)) : undefined
  const value = jsonIn('--args', text === '-' ? await readInput() : (file ?? text))
  if (!isObject(value)) throw new CommandLineError('--args takes one JSON object.')
  return { ...value }
}

/**
 * `--name value`, `--name=value`, `--name:=JSON`, `--name:@FILE`, `--switch`, `--no-switch`. Takes
 * the value from `left`, the words after the flag, if the flag needs it.
 */
async function readFlag(word: string, left: string[], tool: Tool, { readFile }: TextSources) {
  const schema = tool.inputSchema()
  const [, name, sign, text = ''] = /^--([^=:]+)(?:(:=|:@|=)(.*))?$/s.exec(word) ?? []
  if (name === undefined)
    throw new CommandLineError(
      `Unexpected ${shownWord(word)}. Arguments are given as --name value.`,
    )
  const negated = sign === undefined ? negatedPlace(name, schema) : undefined
  if (negated) return { place: negated, value: false }
  const place = argumentPlace(name, schema, tool.absent)
  const flag = flagOf(place.path)
  if (sign === ':=') return { place, value: jsonIn(flag, text) }
  if (sign === ':@') return { place, value: await readFile(text) }
  const [next] = left
  if ((sign === '=' ? text : next) === 'null' && !isFreeText(place)) throw nullRefused(place, tool)
  if (sign === '=') return { place, value: argumentValue(flag, text, place.schema) }
  const isSwitch = place.schema.type === 'boolean'
  if (isSwitch && next !== 'true' && next !== 'false') return { place, value: true }
  if (next === undefined || next.startsWith('--'))
    throw new CommandLineError(
      `${flag} needs a value.${next === undefined ? '' : ` One that begins with -- is given as ${flag}=VALUE.`}`,
    )
  left.shift()
  return { place, value: argumentValue(flag, next, place.schema) }
}

/** Refuses null, which most likely means 'not given'. */
function nullRefused({ path, schema }: ArgumentPlace, tool: Tool): CommandLineError {
  const flag = flagOf(path)
  const isUntyped = schema.type === undefined
  const ways = [
    isClearable(tool, path.join('.')) && `To clear it, give --clear ${path.join('.')}.`,
    isUntyped && `For the value null, give ${flag}:=null.`,
    (isUntyped || schema.type === 'string') && `For the text, give '${flag}:="null"'.`,
  ].filter(Boolean)
  const how = ways.length > 0 ? ways.join(' ') : 'Leave it out to give no value.'
  return new CommandLineError(`${flag} takes no bare null. ${how}`)
}

/** Place of the switch that `no-NAME` sets to false. */
function negatedPlace(name: string, schema: JsonSchema): ArgumentPlace | undefined {
  const [, positive] = /^no[-_](.+)$/.exec(name) ?? []
  if (positive === undefined || knownPlace(name, schema)) return undefined
  const place = knownPlace(positive, schema)
  return place?.schema.type === 'boolean' ? place : undefined
}

const shownWord = (word: string) =>
  JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word)

/**
 * Sets an argument. A list collects the values of repeated flags; any other argument may be given
 * once.
 */
function add(
  given: Record<string, unknown>,
  { path, schema }: ArgumentPlace,
  value: unknown,
): void {
  let at = given
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(at, name)) at[name] = {}
    const inner = at[name]
    if (!isObject(inner)) throw new CommandLineError(`${flagOf(path)} is given twice, in two ways.`)
    at = inner
  }
  const last = path.at(-1) ?? ''
  const before = Object.hasOwn(at, last) ? at[last] : undefined
  if (before === undefined) at[last] = value
  else if (schema.type === 'array') at[last] = [...itemsOf(before), ...itemsOf(value)]
  else if (isObject(before) && isObject(value)) at[last] = merged(before, value)
  else throw new CommandLineError(`${flagOf(path)} is given twice.`)
}

/** Items of a list value. One text may hold several items, separated by commas. */
const itemsOf = (value: unknown): unknown[] =>
  typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value].flat()

/** Merges two objects; the second wins. */
function merged(
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const added = Object.entries(other).map(([name, value]): [string, unknown] => {
    const before = Object.hasOwn(one, name) ? one[name] : undefined
    return [name, isObject(before) && isObject(value) ? merged(before, value) : value]
  })
  return Object.fromEntries([...Object.entries(one), ...added])
}

/**
 * Parses a flag's value by the schema. A value of the wrong type stays a string, which the tool
 * then refuses. Throws CommandLineError for invalid JSON.
 */
function argumentValue(flag: string, text: string, schema: JsonSchema): unknown {
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

/** JSON typed by a person. Throws CommandLineError. */
function jsonIn(flag: string, text: string): unknown {
  try {
    return parseJsonText(text)
  } catch (error) {
    throw new CommandLineError(`${flag} is not valid JSON: ${messageOf(error)}.${quotesHint(text)}`)
  }
}

/** PowerShell 5 and cmd remove quotation marks from JSON. */
const quotesHint = (text: string) =>
  /^'?\s*[{[][^"]*[a-z][^"]*$/i.test(text)
    ? ' Names and texts need double quotation marks. The shell may have removed them: a file keeps them (--args @FILE).'
    : ''

/** Parses a decimal number; `undefined` if a double cannot hold it exactly. */
function numberIn(text: string): number | undefined {
  const value = Number(text)
  const isDecimal = /^-?\d+(\.\d+)?$/.test(text)
  const isExact = !Number.isInteger(value) || Number.isSafeInteger(value)
  return isDecimal && isExact ? value : undefined
}

/**
 * Parses a list: JSON, or a single item. If the items are objects with one required field, the text
 * is the value of that field. A text with commas stays a string, because the tool itself splits it.
 */
function listIn(flag: string, text: string, { items }: JsonSchema): unknown {
  if (/^'?\s*\[/.test(text)) return jsonIn(flag, text)
  const item = schemaOf(items)
  if (item.type === 'object' && /^'?\s*\{/.test(text)) return [jsonIn(flag, text)]
  const [only, ...others] = item.required ?? []
  if (only !== undefined && others.length === 0) return [{ [only]: text }]
  return text.includes(',') ? text : [text]
}

/** The place in a tool's arguments that a flag sets. */
interface ArgumentPlace {
  readonly path: readonly string[]
  /** The schema of the value; `{}` for free data. */
  readonly schema: JsonSchema
}

/** The flag of an argument: `--max-duration-seconds`, or `--model.provider` for a nested field. */
export const flagOf = (path: readonly string[]): string =>
  `--${path.map((name) => name.replaceAll('_', '-')).join('.')}`

/** Schema of a field; `{}` for any value. */
export const fieldSchema = ({ properties = {} }: JsonSchema, name: string): JsonSchema =>
  Object.hasOwn(properties, name) ? schemaOf(properties[name]) : {}

/** True for free data: any value, or an object whose field names the user chooses. */
export const isFree = (schema: JsonSchema): boolean =>
  schema.type === undefined || schema.additionalProperties === true

/** True for free text: a filter or a name, but not an id, code or choice. */
const isFreeText = ({ path, schema }: ArgumentPlace): boolean =>
  schema.type === 'string' &&
  schema.enum === undefined &&
  schema.format === undefined &&
  (schema.maxLength !== undefined || (path.length === 1 && !/_(id|uri)$/.test(path[0] ?? '')))

/**
 * Resolves a flag's name: schema names with hyphens or underscores, dots between fields. Names in
 * free data stay unchanged. Throws CommandLineError.
 */
function argumentPlace(name: string, schema: JsonSchema, absent: AbsentFields = {}): ArgumentPlace {
  const path: string[] = []
  let at = schema
  for (const segment of name.split('.')) {
    if (segment === '' || segment === '__proto__')
      throw new CommandLineError(`--${name} names no argument.`)
    if (path.length > 0 && at.type !== 'object' && at.type !== undefined)
      throw new CommandLineError(`${flagOf(path)} is ${typeInWords(at)}, which has no fields.`)
    const known = knownName(segment, at)
    if (known === undefined && !(path.length > 0 && isFree(at)))
      throw new CommandLineError(
        `There is no argument --${name}. ${unknownHint(name, { absent, path, segment, schema: at })}`,
      )
    path.push(known ?? segment)
    at = known === undefined ? {} : fieldSchema(at, known)
  }
  return { path, schema: at }
}

/** The place in the schema; `undefined` for an unknown name. */
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

/** A name that the schema of the place does not have. */
interface Unknown extends ArgumentPlace {
  readonly segment: string
  /** Argument names that users may try for missing features, each with the alternative. */
  readonly absent: AbsentFields
}

/** Advice on what to give instead of an unknown argument. */
function unknownHint(name: string, { path, segment, schema, absent }: Unknown): string {
  if (path.length === 0 && Object.hasOwn(serviceSettings, name))
    return `--${name} is a setting of the program, which stands before the name of the tool.`
  const advice = absent[sameWord(name, Object.keys(absent)) ?? '']
  if (advice !== undefined) return advice
  const known = Object.keys(schema.properties ?? {})
  const meant = closestWord(segment, known)
  if (meant !== undefined) return `Did you mean ${flagOf([...path, meant])}?`
  const flags = known.map((one) => flagOf([...path, one]))
  return flags.length === 0 ? 'The tool takes none.' : `There are ${flags.join(', ')}.`
}

function typeInWords({ type, items }: JsonSchema): string {
  if (type === 'array')
    return schemaOf(items).type === 'object' ? 'a list of objects' : 'a list of texts'
  const words: Readonly<Record<string, string>> = typeWords
  return words[String(type)] ?? 'free data'
}
