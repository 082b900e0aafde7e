import { tools } from '../../tools/index.ts'
import { boundsOf } from '../cli/terminal/tool-help.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import { toolsetsOf } from '../mcp/exposure.ts'
import type { Tool } from '../tool/tool.ts'
import { code, table } from './markdown.ts'

/** One line per toolset with its tools, for the README. */
export const toolList = (): string =>
  table(
    ['Toolset', 'Tools'],
    toolsetsOf(tools.map(({ route }) => route)).map((toolset) => [
      code(toolset),
      tools
        .filter(({ route }) => toolsetsOf([route])[0] === toolset)
        .map(({ name }) => code(name))
        .join(', '),
    ]),
  )

const referenceHead = `# Tool reference

Every tool with its arguments and results, by toolset, as \`npm run docs\` writes it from the schemas.
[tools.md](tools.md) says how the tools behave. Hints are the MCP annotations of a tool; the systems outside the platform
are telephones and voice providers.

Arguments within objects are dotted paths; arguments within the items of an array have \`[]\`. "cleared: …" says what
a field means once \`clear\` has named it.`

/** Reference of all tools with arguments, results and hints, by toolset. */
export const toolReference = (): string =>
  `${[
    referenceHead,
    ...toolsetsOf(tools.map(({ route }) => route)).flatMap((toolset) => {
      const members = tools.filter(({ route }) => toolsetsOf([route])[0] === toolset)
      return [`## ${toolset}`, ...members.map(reference)]
    }),
  ].join('\n\n')}\n`

function reference(tool: Tool): string {
  const { annotations = {} } = tool.listed('any')
  const hints = [
    annotations.readOnlyHint ? 'reads only' : 'changes something',
    annotations.destructiveHint && 'destructive',
    annotations.idempotentHint && 'idempotent',
    annotations.openWorldHint && 'reaches systems outside the platform',
    tool.asksConfirmation && 'asks for confirmation',
    tool.reportsProgress && 'reports progress',
  ].filter((hint) => typeof hint === 'string')
  const rows = fieldsOf(tool.inputSchema(), 'required')
  return [
    `### ${code(tool.name)}`,
    `${tool.title}. ${tool.description}`,
    `- Operation: ${code(`${tool.route.method} ${tool.route.path}`)}`,
    `- Hints: ${hints.join(', ')}.`,
    rows.length === 0 ? 'It takes no arguments.' : table(['Argument', 'Type', 'Meaning'], rows),
    table(['Result', 'Type', 'Meaning'], fieldsOf(tool.outputSchema(), 'optional')),
  ]
    .join('\n\n')
    .replaceAll(/(^- .*)\n\n(?=- )/gm, '$1\n')
}

/** The fields that the table marks: required arguments, or optional parts of a result. */
type Marked = 'required' | 'optional'

/** Fields of a schema; nested ones by dotted paths. */
function fieldsOf(schema: JsonSchema, marked: Marked, prefix = ''): string[][] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const { isNullable, field } = nullable(Object(value) as JsonSchema)
    const path = `${prefix}${name}`
    const type = isNullable ? `${typeOf(field)} or null` : typeOf(field)
    const mark = required.has(name) === (marked === 'required') ? ` (${marked})` : ''
    const items = field.type === 'array' ? itemsOf(field) : undefined
    return [
      [code(path), `${type}${mark}`, meaningOf(field, marked)],
      ...fieldsOf(field, marked, `${path}.`),
      ...(items ? fieldsOf(items, marked, `${path}[].`) : []),
    ]
  })
}

/** A field's schema without its null alternative. */
function nullable({ anyOf, type, ...rest }: JsonSchema): {
  isNullable: boolean
  field: JsonSchema
} {
  const types = [type ?? []].flat()
  const other = anyOf?.find((one) => one.type !== 'null')
  const [only] = types.filter((one) => one !== 'null')
  return {
    isNullable: types.includes('null') || other !== undefined,
    field: { ...other, ...rest, ...(only && { type: only }) },
  }
}

const itemsOf = ({ items }: JsonSchema) => Object(items) as JsonSchema

function typeOf(field: JsonSchema): string {
  const type = field.type ?? 'any'
  return type === 'array' ? `array of ${itemsOf(field).type ?? 'any'}` : `${type}`
}

function meaningOf(field: JsonSchema, marked: Marked): string {
  const { description = '', default: usual } = field
  const choices = field.enum ?? itemsOf(field).enum
  return [
    // In the API, null clears a field. In a tool's arguments, `clear` names the field.
    marked === 'required' ? description.replace('null:', 'cleared:') : description,
    choices && `One of ${choices.map((choice) => code(String(choice))).join(', ')}.`,
    !/\d to \d/.test(description) && boundsOf(field),
    usual !== undefined && `Default ${code(JSON.stringify(usual))}.`,
  ]
    .filter(Boolean)
    .join(' ')
}
