import * as z from 'zod'
import { type JsonSchema, schemaOf } from '../../contract/json-schema.ts'
import {
  exampleIds,
  exampleLine,
  examplePeriod,
  examples,
  parameterExamples,
} from '../../contract/openapi-examples.ts'
import { type Exposure, toolsetsOf } from '../../mcp/exposure.ts'
import type { ToolSummary } from '../../server/tool-summaries.ts'
import { isObject } from '../../text/json.ts'
import { safeJsonLines } from '../../text/safe-text.ts'
import { accountArguments } from '../../tool/listed-tool.ts'
import type { Tool } from '../../tool/tool.ts'
import { ConfigError } from '../config/config-error.ts'
import { commandLine, quotedForShell } from '../config/launch-command.ts'
import { type HelpPart, helpParts, type Terminal } from './terminal-io.ts'
import { fieldSchema, flagOf, isFree, ownFlags, toolNamed } from './tool-arguments.ts'

/** The command line of a tool with its required arguments. */
export function usageLine({ name, inputSchema }: Pick<Tool, 'name' | 'inputSchema'>): string {
  const rows = argumentRows(inputSchema())
  const required = rows.filter(({ isRequired }) => isRequired).map(({ usage }) => usage)
  const rest = rows.length > required.length ? ['[--argument value …]'] : []
  return `Usage: ${commandLine(['call', name, ...required, ...rest].join(' '))}`
}

interface HelpFor {
  /** Columns of the terminal. */
  readonly width: number | undefined
  /** The account that the operator has pinned. */
  readonly account: string | undefined
}

/** Help text of a tool, with all its arguments. */
export function toolHelp(tool: Tool, { width, account }: HelpFor): string {
  const rows = argumentRows(tool.inputSchema(), account !== undefined)
  const parts: HelpPart[] = [
    [`${tool.name}: ${tool.title}`],
    [tool.description],
    [usageLine(tool)],
    ...(rows.length > 0
      ? [['Arguments:', ...rows.map(({ usage, meaning }): [string, string] => [usage, meaning])]]
      : []),
    [
      'Besides:',
      ...Object.entries(ownFlags).map(([name, text]): [string, string] => [`--${name}`, text]),
    ],
    ['Example:', `  ${exampleCommand(tool)}`],
  ]
  return helpParts(parts, width)
}

/** An argument in the help. */
interface ArgumentRow {
  readonly path: readonly string[]
  readonly schema: JsonSchema
  /** Usage, such as `--limit NUMBER`. */
  readonly usage: string
  /** Required in every call. */
  readonly isRequired: boolean
  readonly meaning: string
}

/**
 * All arguments of a tool. An object is replaced by its fields. `pinned`: true if the operator has
 * fixed the account (--account).
 */
export function argumentRows(schema: JsonSchema, pinned = false): ArgumentRow[] {
  const left: readonly string[] = pinned ? accountArguments : []
  return rowsOf(schema, [], true).filter(({ path }) => !left.includes(path[0] ?? ''))
}

/** `isGiven`: true if the object that holds these fields is always given. */
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

/** The placeholder for the value of an argument. */
function valueWord(schema: JsonSchema): string {
  const { type, format, items } = schema
  if (schema.enum) return schema.enum.join('|')
  if (type === 'array')
    return `${schemaOf(items).type === 'object' ? 'JSON' : valueWord(schemaOf(items))} …`
  if (type === 'object') return 'JSON'
  if (type === 'integer' || type === 'number') return 'NUMBER'
  return format === 'date-time' ? 'TIME' : 'TEXT'
}

function meaningOf(schema: JsonSchema, isRequired: boolean): string {
  const { description = '', default: usual, type } = schema
  return [
    isRequired && 'Required.',
    // In the API, null clears a field. In a tool's arguments, `clear` names the field.
    description.replace('null:', 'cleared:'),
    !/\d to \d/.test(description) && boundsOf(schema),
    type === 'array' && 'Several: once for each, or JSON.',
    type === 'object' && isFree(schema) && 'Its fields: .NAME TEXT.',
    usual !== undefined && usual !== '' && usual !== false && `Default ${String(usual)}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Bounds of a number, or of the length of a text or list, in words; empty without bounds. */
export function boundsOf(schema: JsonSchema): string {
  const { minimum, maximum, maxLength, minItems, maxItems } = schema
  const [min, max] = [minimum ?? minItems, maximum ?? maxItems ?? maxLength]
  const unit = (minItems ?? maxItems) ? ' items' : maxLength === undefined ? '' : ' characters'
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}.`
  if (max !== undefined) return `At most ${max}${unit}.`
  return min === undefined ? '' : `At least ${min}${unit}.`
}

type Values = Readonly<Record<string, unknown>>

/** An example call of a tool: its name and arguments. */
export function exampleWords(tool: ToolFacts): string[] {
  return [tool.name, ...argumentWords(exampleArguments(tool), tool.inputSchema())]
}

type ToolFacts = Pick<Tool, 'name' | 'route' | 'inputSchema'>

/** The example call of a tool as a command line for a POSIX shell. */
const exampleCommand = (tool: ToolFacts): string =>
  commandLine(['call', ...exampleWords(tool).map(quotedForShell)].join(' '))

/** Arguments of a tool, from the examples of the OpenAPI document. */
function exampleArguments({ name, route, inputSchema }: ToolFacts): Values {
  const own = Object.hasOwn(ofTools, name) ? ofTools[name] : undefined
  if (own) return own
  const { required = [], properties = {} } = inputSchema()
  const body = examples[`${route.id}.body`] ?? examples[`${route.id}.body.phone`]
  const needed = required.map((one) => [one, parameterExamples[one]])
  const all = { ...Object.fromEntries(needed), ...(isObject(body) ? body : {}) }
  return Object.fromEntries(
    Object.entries(all).filter(([one, value]) => value !== null && Object.hasOwn(properties, one)),
  )
}

/** Example values for tools whose arguments differ from those of their route. */
const ofTools: Readonly<Record<string, Values>> = {
  archive_agent: { agent_id: exampleIds.agent },
  copy_agent: {
    agent_id: exampleIds.agent,
    name: 'Support line 2',
    changes: { tags: ['support'] },
  },
  get_conversation: { id: exampleIds.call },
  get_usage: examplePeriod,
  list_agents: { tags: ['support'], limit: 5, fields: ['name', 'tags'] },
  list_calls: { answer_status: 'user_unavailable', created_after: examplePeriod.start },
  list_conversations: { search: 'invoice', said_by: 'user', limit: 5 },
  list_models: { provider: 'openai', fields: ['name'] },
  list_voices: { language: 'en-us', gender: 'female', limit: 5 },
  place_calls: {
    agent_id: exampleIds.agent,
    from_number: exampleLine.number,
    calls: ['+12025550100', '+12025550101'],
  },
  update_agent: {
    agent_id: exampleIds.agent,
    max_duration_seconds: 600,
    denoising: { web: false },
    dry_run: true,
  },
  update_phone_number: { phone_number_id: exampleIds.number, name: 'Main line' },
  update_sip_trunk: { sip_trunk_id: exampleIds.trunk, name: 'Office' },
  update_subaccount: { subaccount_id: exampleIds.subaccount, name: 'Branch' },
  wait_for_call: { call_id: exampleIds.call, timeout_seconds: 30 },
}

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
    // The plain text null is refused, so null is written as JSON.
    if (value === null || value === 'null') return [`${flag}:=${JSON.stringify(value)}`]
    return textWords(flag, String(value))
  })
}

/** A flag for each item of plain text. */
function listWords(flag: string, items: readonly unknown[]): string[] {
  const isPlain = items.every((item) => typeof item === 'string' && !/^\s*[[{]|,|^null$/.test(item))
  return isPlain && items.length > 0
    ? items.flatMap((item) => textWords(flag, String(item)))
    : [flag, JSON.stringify(items)]
}

/** A value that looks like a flag is joined with `=`. */
const textWords = (flag: string, text: string) =>
  text.startsWith('--') ? [`${flag}=${text}`] : [flag, text]

interface HowShown {
  readonly terminal: Terminal
  readonly wantsJson: boolean
}

export async function showTools(
  summaries: readonly ToolSummary[],
  { terminal, wantsJson }: HowShown,
): Promise<void> {
  const listed = summaries.map(listedTool)
  await terminal.print(wantsJson ? safeJsonLines(listed) : toolList(listed, terminal.width))
}

/** Prints one tool with its arguments. Throws ConfigError if it is unknown or not exposed. */
export async function showTool(
  name: string,
  { all, hidden }: Exposure,
  { terminal, wantsJson, account }: HowShown & Pick<HelpFor, 'account'>,
): Promise<void> {
  const tool = toolNamed(name, all)
  const reason = hidden.get(tool.name)
  if (reason !== undefined) throw new ConfigError(`${tool.name} is not exposed by ${reason}.`)
  const { width } = terminal
  await terminal.print(
    wantsJson ? safeJsonLines(toolAsData(tool)) : toolHelp(tool, { width, account }),
  )
}

const toolAsData = ({ name, title, description, effect, inputSchema, outputSchema }: Tool) => ({
  ...{ name, title, description, effect },
  inputSchema: inputSchema(),
  outputSchema: outputSchema(),
})

const Listed = z.object({ title: z.string(), description: z.string() })

function listedTool({ name, effect, route, listed }: ToolSummary) {
  const { title, description } = Listed.parse(JSON.parse(listed))
  return { name, toolset: toolsetsOf([route])[0] ?? '', title, description, effect }
}

/** The first sentence of a text, without its full stop. */
export const firstSentence = (text: string): string => text.split(/\.(?: |$)/, 1)[0] ?? ''

/** Tools by group, one per line. */
function toolList(
  tools: readonly ReturnType<typeof listedTool>[],
  width: number | undefined,
): string {
  const groups = [...new Set(tools.map(({ toolset }) => toolset))].map(
    (toolset): HelpPart => [
      `${toolset.replaceAll('_', ' ')}:`,
      ...tools
        .filter((tool) => tool.toolset === toolset)
        .map(({ name, description }): [string, string] => [name, firstSentence(description)]),
    ],
  )
  const end = [
    `The arguments of a tool: ${commandLine('tools TOOL')}`,
    `Call it: ${commandLine('call TOOL')}`,
  ]
  return helpParts([...groups, end], width)
}
