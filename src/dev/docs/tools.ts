import { tools } from '../../../tools/index.ts'
import type { JsonSchema } from '../../contract/json-schema.ts'
import { toolsetsOf } from '../../mcp/exposure.ts'
import type { Tool } from '../../tool/tool.ts'
import { code, table } from './markdown.ts'

/** The tools of each toolset in one line: for the README. */
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
[tools.md](tools.md) says how they behave.

Arguments within objects are dotted paths, those within the items of an array have \`[]\`. "cleared: …" says what
a field means once \`clear\` has named it.`

/** The document of every tool with its arguments, results and hints, by toolset. */
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
    annotations.openWorldHint && 'reaches beyond the platform',
    tool.asksConfirmation && 'asks for confirmation',
    tool.reportsProgress && 'reports progress',
  ].filter((hint) => typeof hint === 'string')
  const rows = fieldsOf(tool.inputSchema())
  return [
    `### ${code(tool.name)}`,
    `${tool.title}. ${tool.description}`,
    `- Operation: ${code(`${tool.route.method} ${tool.route.path}`)}`,
    `- Hints: ${hints.join(', ')}.`,
    rows.length === 0 ? 'It takes no arguments.' : table(['Argument', 'Type', 'Meaning'], rows),
    table(['Result', 'Type', 'Meaning'], fieldsOf(tool.outputSchema(), { marks: 'optional' })),
  ]
    .join('\n\n')
    .replaceAll(/(^- .*)\n\n(?=- )/gm, '$1\n')
}

/** Which fields are marked: those that must be there, or those that may be missing. */
interface Reading {
  readonly marks: 'required' | 'optional'
}

/** The fields of a schema, those of objects in it by dotted paths. */
function fieldsOf(
  schema: JsonSchema,
  { marks }: Reading = { marks: 'required' },
  prefix = '',
): string[][] {
  const required = new Set(schema.required)
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const { isNullable, field } = nullable(Object(value) as JsonSchema)
    const path = `${prefix}${name}`
    const type = isNullable ? `${typeOf(field)} or null` : typeOf(field)
    const mark = required.has(name) === (marks === 'required') ? ` (${marks})` : ''
    const items = field.type === 'array' ? itemsOf(field) : undefined
    return [
      [code(path), `${type}${mark}`, meaningOf(field)],
      ...fieldsOf(field, { marks }, `${path}.`),
      ...(items ? fieldsOf(items, { marks }, `${path}[].`) : []),
    ]
  })
}

/** A field without the null that it may be. */
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

function meaningOf(field: JsonSchema): string {
  const { description = '', default: usual } = field
  const choices = field.enum ?? itemsOf(field).enum
  return [
    // On the wire null clears a field; in a tool's arguments clear names it.
    description.replace('null:', 'cleared:'),
    choices && `One of ${choices.map((choice) => code(String(choice))).join(', ')}.`,
    !/\d to \d/.test(description) && boundsOf(field),
    usual !== undefined && `Default ${code(JSON.stringify(usual))}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

function boundsOf({ minimum, maximum, minItems, maxItems }: JsonSchema): string {
  const [least, most] = [minimum ?? minItems, maximum ?? maxItems]
  const unit = (minItems ?? maxItems) ? ' items' : ''
  if (least !== undefined && most !== undefined) return `From ${least} to ${most}${unit}.`
  if (most !== undefined) return `At most ${most}${unit}.`
  return least === undefined ? '' : `At least ${least}${unit}.`
}
