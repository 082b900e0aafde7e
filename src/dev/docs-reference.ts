import { sessionOf } from '../../test/harness/session.ts'
import { tools } from '../../tools/index.ts'
import { boundsOf } from '../cli/terminal/tool-help.ts'
import type { JsonSchema } from '../contract/json-schema.ts'
import { toolsetsOf } from '../mcp/exposure.ts'
import { ApiError, type Failure, type Rejected, type Unreadable } from '../platform/failure.ts'
import { adviceFor, adviceRows } from '../tool/advice.ts'
import type { RefusalKind } from '../tool/refused.ts'
import type { Tool } from '../tool/tool.ts'

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

interface FieldOptions {
  readonly marks: 'required' | 'optional'
}

/** Fields of a schema; nested ones by dotted paths. */
function fieldsOf(
  schema: JsonSchema,
  { marks }: FieldOptions = { marks: 'required' },
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
      [code(path), `${type}${mark}`, meaningOf(field, { marks })],
      ...fieldsOf(field, { marks }, `${path}.`),
      ...(items ? fieldsOf(items, { marks }, `${path}[].`) : []),
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

function meaningOf(field: JsonSchema, { marks }: FieldOptions): string {
  const { description = '', default: usual } = field
  const choices = field.enum ?? itemsOf(field).enum
  return [
    // In the API, null clears a field. In a tool's arguments, `clear` names the field.
    marks === 'required' ? description.replace('null:', 'cleared:') : description,
    choices && `One of ${choices.map((choice) => code(String(choice))).join(', ')}.`,
    !/\d to \d/.test(description) && boundsOf(field),
    usual !== undefined && `Default ${code(JSON.stringify(usual))}.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** Every kind of error with its meaning. The compiler keeps the list complete. */
const kinds: Readonly<Record<Failure['kind'] | RefusalKind | 'internal', string>> = {
  rejected: 'The platform answered with an error in its documented form.',
  unreadable: 'The platform answered, but not with the documented JSON.',
  network: 'The platform could not be reached, or the connection broke.',
  timeout: 'No reply came in time (`--headers-timeout`, `--timeout`).',
  redirected: 'The platform redirected in a way that is not followed.',
  bad_parameter: 'An id is not valid in a path. Nothing was sent.',
  cancelled: 'The client cancelled the tool call.',
  not_exposed:
    'No exposed tool reads this data, so it was not read. Only in texts of hints, prompts and resources; a tool that is not exposed is a [protocol error](#protocol-errors).',
  not_recorded:
    'The audit trail cannot be written, and `--audit-failure refuse` forbids changes without it. Nothing was sent.',
  all_failed: 'All items of a bulk operation failed. The fields have the reason for each.',
  bad_arguments: 'The arguments are not valid. Nothing was sent.',
  conflict:
    'The agent was changed since `expected_modified`, or a SIP trunk to delete has numbers. Nothing was sent.',
  needs_person: 'A person must confirm, and the client cannot ask one (`--confirm person`).',
  not_allowed:
    'The dial policy does not allow the phone call, or too many actions were confirmed within a few minutes. Nothing was done.',
  not_taken: 'The platform lists the phone call as not accepted.',
  state_unavailable:
    'The state (journal of calls, limits, confirmations) is slow or unreachable, and without it nobody is called. Nothing was done. `retryAfter` has the seconds to wait; null if the state needs repair.',
  unknown_outcome:
    'It is not known whether the phone call was placed, the copy created, or any item of a bulk operation changed.',
  internal: 'A defect of this server, not of the network or the platform.',
}

export const kindTable = (): string =>
  table(
    ['`kind`', 'Meaning'],
    Object.entries(kinds).map(([kind, meaning]) => [code(kind), meaning]),
  )

const reply = { detail: null, requestId: null, retryAfter: null }

const rejected = (status: number, rest: Partial<Rejected> = {}): Rejected => ({
  ...reply,
  kind: 'rejected',
  status,
  code: '',
  message: '',
  errors: [],
  ...rest,
})

const unreadable = (reason: Unreadable['reason']): Unreadable => ({
  ...reply,
  kind: 'unreadable',
  status: 200,
  reason,
  excerpt: '',
})

const network = (failureCode: string): Failure => ({
  kind: 'network',
  code: failureCode,
  maybeSent: true,
})

/** A failure for each row of the advice table. `when`: the row's condition in words. */
const examples: readonly { when: string; failure: Failure; isSandbox?: boolean }[] = [
  { when: 'HTTP 401', failure: rejected(401) },
  { when: 'HTTP 403', failure: rejected(403) },
  { when: 'HTTP 402', failure: rejected(402) },
  { when: 'HTTP 405', failure: rejected(405) },
  { when: 'HTTP 410', failure: rejected(410) },
  { when: 'HTTP 404', failure: rejected(404) },
  { when: 'HTTP 400', failure: rejected(400) },
  { when: 'HTTP 409', failure: rejected(409) },
  { when: 'HTTP 422', failure: rejected(422) },
  { when: 'HTTP 429', failure: rejected(429, { retryAfter: 7 }) },
  { when: 'HTTP 5xx from the sandbox', failure: rejected(500), isSandbox: true },
  { when: 'HTTP 502, 503, 504', failure: rejected(503) },
  { when: 'any other HTTP 5xx', failure: rejected(500) },
  { when: 'any other status', failure: rejected(418) },
  { when: 'a reply over 10 MiB or 300,000 values', failure: unreadable('too_large') },
  { when: 'JSON that is not as documented', failure: unreadable('unexpected_shape') },
  { when: 'a successful reply without JSON', failure: unreadable('html') },
  { when: 'a certificate that is not trusted', failure: network('CERT_HAS_EXPIRED') },
  { when: 'a proxy that refuses', failure: network('PROXY_407') },
  { when: 'a host name that is not found', failure: network('ENOTFOUND') },
  { when: 'any other failure of the network', failure: network('ECONNREFUSED') },
  {
    when: 'no reply in time',
    failure: { kind: 'timeout', waitingFor: 'headers', afterMs: 10_000, maybeSent: true },
  },
  {
    when: 'a redirect that is not followed',
    failure: { kind: 'redirected', status: 302, reason: 'nowhere', origin: '' },
  },
  {
    when: 'an id that is empty, `.` or `..`',
    failure: { kind: 'bad_parameter', name: 'agent_id', value: '..' },
  },
  {
    when: 'the audit trail cannot be written (`--audit-failure refuse`)',
    failure: { kind: 'not_recorded', maybeSent: false },
  },
  { when: 'the client cancelled', failure: { kind: 'cancelled', maybeSent: true } },
]

const again = { yes: 'yes', no: 'no', 'if harmless': 'reads and repeatable changes' }

const client = { call: () => Promise.reject(new Error('Documentation calls nothing.')) }

/** All rows of the advice table, with the advice after a failed `get_agent`. */
export function adviceTable(): string {
  const tool = tools.find(({ name }) => name === 'get_agent')
  if (!tool) throw new Error('There is no tool get_agent')
  const found = examples.map(({ when, failure, isSandbox = false }) => {
    const error = new ApiError(failure, { ...tool.route, attempts: 1 })
    const session = sessionOf(client, { isSandbox, keySource: 'VOICE_AGENT_API_KEY' })
    const { advice, next } = adviceFor(error, {
      tool,
      session,
      account: "the API key's own account",
      accountId: 'me',
      check: undefined,
      isExposed: () => true,
      hints: {},
    })
    return { advice, when, next }
  })
  return table(
    ['`advice`', 'When', 'Next (here for `get_agent`)', '`retryable`'],
    adviceRows.map(({ id, again: when }) => {
      const example = found.find(({ advice }) => advice === id)
      if (!example) throw new Error(`src/dev/docs-reference.ts has no example for the advice ${id}`)
      return [code(id), example.when, example.next, again[when]]
    }),
  )
}

/** A Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [row(head), row(head.map(() => '---')), ...rows.map(row)].join('\n')
}

export const code = (text: string) => `\`${text}\``

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->` for each section. Throws if a
 * marker is missing.
 */
export function withSections(
  file: string,
  document: string,
  sections: Readonly<Record<string, string>>,
): string {
  let updated = document
  for (const [name, text] of Object.entries(sections)) {
    const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
    const from = updated.indexOf(start)
    const to = updated.indexOf(end)
    if (from < 0 || to < from) throw new Error(`${file} has no ${start} … ${end}`)
    updated = `${updated.slice(0, from + start.length)}\n${text}\n${updated.slice(to)}`
  }
  return updated
}
