import type { JsonSchema } from '../../contract/json-schema.ts'
import { isObject, parseJsonText } from '../../text/json.ts'
import { CommandLineError } from '../config/config-error.ts'
import {
  type ArgumentPlace,
  argumentPlace,
  flagOf,
  isFreeText,
  knownPlace,
  typeInWords,
  type UnknownNameHints,
} from './argument-place.ts'

/** What stands behind the name of a tool. */
interface ToolArguments {
  readonly arguments: Record<string, unknown>
  readonly wantsJson: boolean
  readonly wantsHelp: boolean
}

/** What the words are read with. */
interface ArgumentSources extends UnknownNameHints {
  /** The schema of the tool's arguments. */
  readonly schema: JsonSchema
  /** Whether `--clear` reaches a dotted path. */
  readonly clears?: (path: string) => boolean
  readonly readFile: (path: string) => string
  readonly readInput: () => Promise<string>
}

/** The command's own flags behind the name of the tool; no tool has an argument of such a name. */
export const ownFlags = {
  args: 'All arguments as JSON, @FILE for those in a file, - for those on standard input.',
  json: 'Print the result as JSON.',
  help: 'Show the arguments of the tool.',
} as const

/** Reads the words behind the name of a tool. Throws CommandLineError. */
export async function readToolArguments(
  words: readonly string[],
  sources: ArgumentSources,
): Promise<ToolArguments> {
  const given: Record<string, unknown> = {}
  const own: Own = { base: undefined, wantsJson: false, wantsHelp: false }
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    const next = words[at + 1]
    if (word === '--json') own.wantsJson = true
    else if (word === '--help' || word === '-h') own.wantsHelp = true
    else if (word === '--args' || word.startsWith('--args=')) {
      if (own.base) throw new CommandLineError('--args is given twice.')
      const text = word === '--args' ? next : word.slice('--args='.length)
      if (word === '--args') at += 1
      own.base = await wholeArguments(text, sources)
    } else {
      const { place, value, usesNext } = readFlag(word, next, sources)
      add(given, place, value)
      if (usesNext) at += 1
    }
  }
  const { base, ...flags } = own
  return { ...flags, arguments: merged(base ?? {}, given) }
}

/** What the flags of the command itself say. */
interface Own {
  base: Record<string, unknown> | undefined
  wantsJson: boolean
  wantsHelp: boolean
}

/** The object that `--args` gives. */
async function wholeArguments(
  text: string | undefined,
  { readFile, readInput }: ArgumentSources,
): Promise<Record<string, unknown>> {
  if (text === undefined)
    throw new CommandLineError('--args needs JSON, @FILE, or - for standard input.')
  const from = (source: string) => (source === '-' ? readInput() : readFile(source.slice(1)))
  const json = text === '-' || text.startsWith('@') ? await from(text) : text
  const value = jsonIn('--args', json)
  if (!isObject(value)) throw new CommandLineError('--args takes one JSON object.')
  return { ...value }
}

interface FlagValue {
  readonly place: ArgumentPlace
  readonly value: unknown
  readonly usesNext: boolean
}

/** `--name value`, `--name=value`, `--name:=JSON`, `--name:@FILE`, `--switch`, `--no-switch`. */
function readFlag(word: string, next: string | undefined, sources: ArgumentSources): FlagValue {
  const { schema, readFile } = sources
  const [, name, sign, text = ''] = /^--([^=:]+)(?:(:=|:@|=)(.*))?$/s.exec(word) ?? []
  if (name === undefined)
    throw new CommandLineError(
      `Unexpected ${shownWord(word)}. Arguments are given as --name value.`,
    )
  const negated = sign === undefined ? negatedPlace(name, schema) : undefined
  if (negated) return { place: negated, value: false, usesNext: false }
  const place = argumentPlace(name, schema, sources)
  const flag = flagOf(place.path)
  if (sign === ':=') return { place, value: jsonIn(flag, text), usesNext: false }
  if (sign === ':@') return { place, value: readFile(text), usesNext: false }
  if ((sign === '=' ? text : next) === 'null' && !isFreeText(place))
    throw nullRefused(place, sources)
  if (sign === '=')
    return { place, value: argumentValue(flag, text, place.schema), usesNext: false }
  const isSwitch = place.schema.type === 'boolean'
  if (isSwitch && next !== 'true' && next !== 'false')
    return { place, value: true, usesNext: false }
  if (next === undefined || next.startsWith('--'))
    throw new CommandLineError(
      `${flag} needs a value.${next === undefined ? '' : ` One that begins with -- is given as ${flag}=VALUE.`}`,
    )
  return { place, value: argumentValue(flag, next, place.schema), usesNext: true }
}

/** Whoever writes null for such an argument most likely means none. */
function nullRefused(
  { path, schema }: ArgumentPlace,
  { clears }: ArgumentSources,
): CommandLineError {
  const flag = flagOf(path)
  const isUntyped = schema.type === undefined
  const ways = [
    clears?.(path.join('.')) && `To clear it, give --clear ${path.join('.')}.`,
    isUntyped && `For the value null, give ${flag}:=null.`,
    (isUntyped || schema.type === 'string') && `For the text, give '${flag}:="null"'.`,
  ].filter(Boolean)
  const how = ways.length > 0 ? ways.join(' ') : 'Leave it out if it shall have no value.'
  return new CommandLineError(`${flag} takes no bare null. ${how}`)
}

/** The switch that `no-NAME` sets to false. */
function negatedPlace(name: string, schema: JsonSchema): ArgumentPlace | undefined {
  const [, positive] = /^no[-_](.+)$/.exec(name) ?? []
  if (positive === undefined || knownPlace(name, schema)) return undefined
  const place = knownPlace(positive, schema)
  return place?.schema.type === 'boolean' ? place : undefined
}

const shownWord = (word: string) =>
  JSON.stringify(word.length > 40 ? `${word.slice(0, 40)}…` : word)

/** Puts a value in its place. Lists grow; anything else is given once. */
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

/** The items of a list that may be several texts with commas between them. */
const itemsOf = (value: unknown): unknown[] =>
  typeof value === 'string' ? value.split(',').map((item) => item.trim()) : [value].flat()

/** Both objects as one; the second wins. */
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
 * The text of a flag as the value of its argument. What cannot be one stays a text, which the tool
 * refuses in its own words, as it does for any client. Throws CommandLineError for JSON that is none.
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

/** JSON that a person has written. Throws CommandLineError. */
function jsonIn(flag: string, text: string): unknown {
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
