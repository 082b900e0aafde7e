import type * as z from 'zod'
import type { JsonSchema } from '../../contract/json-schema.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { settledAccount } from '../../session/account.ts'
import type { ArgumentProblem } from './advice.ts'
import { argumentLimitProblem } from './argument-limits.ts'
import { clearArgument, clearName, clearProblems, withNulls } from './clear-argument.ts'
import { normaliseArguments } from './normalise-arguments.ts'
import { readAsMeant } from './read-as-meant.ts'
import type { Tool } from './tool.ts'

export type ParsedArguments = Parsed | { ok: false; problems: readonly ArgumentProblem[] }

interface Parsed {
  ok: true
  /** What is sent; fields to clear are null in its body. */
  request: RouteRequest
  options: Record<string, unknown>
  /** Dotted paths of the fields to clear. */
  cleared: readonly string[]
  /** Dotted paths of nulls that were taken as not given, where they may be meant to clear a field. */
  ignoredNulls: readonly string[]
  /** What was given in another form than the schema's, in words. */
  readings: readonly string[]
}

/**
 * Parses the arguments of a tool. Objects that a client sent as JSON text are unpacked, null means
 * 'not given', an unknown argument is reported with the closest known one. Everything else is parsed
 * with the route's own schemas and sorted into path, query, body and the tool's own arguments. What is
 * refused that way is read as it must be meant, where it can only mean one thing (read-as-meant.ts).
 */
export function parseArguments(
  tool: Tool,
  given: Record<string, unknown>,
  pinnedAccount?: string,
): ParsedArguments {
  const limitProblem = argumentLimitProblem(given)
  if (limitProblem) return { ok: false, problems: [limitProblem] }
  const asGiven = parseAsGiven(tool, given, pinnedAccount)
  if (asGiven.ok) return asGiven
  const { value, readings } = readAsMeant(given, tool)
  if (readings.length === 0) return asGiven
  const asMeant = parseAsGiven(tool, value, pinnedAccount)
  return asMeant.ok ? { ...asMeant, readings } : asMeant
}

function parseAsGiven(
  tool: Tool,
  given: Fields,
  pinnedAccount: string | undefined,
): ParsedArguments {
  const { value, nulls, problems: found } = normaliseArguments(given, tool.inputSchema())
  const problems = [...accountProblems(given, pinnedAccount), ...found]
  const parsed = tool.input.safeParse(value, { reportInput: true })
  if (!parsed.success)
    problems.push(...ofTypesFirst(parsed.error.issues).map((one) => problemOf(one, tool)))
  if (problems.length > 0 || !parsed.success) return { ok: false, problems }
  return withClearedFields(tool, parsed.data, { nulls, pinnedAccount })
}

/** The operator has pinned another account. */
const accountProblems = (given: Fields, pinnedAccount: string | undefined): ArgumentProblem[] =>
  pinnedAccount === undefined || (given.account_id ?? pinnedAccount) === pinnedAccount
    ? []
    : [{ argument: 'account_id', message: `this server acts on ${pinnedAccount} only` }]

type Fields = Readonly<Record<string, unknown>>

/** The request, with null in its body for each field that `clear` names. */
function withClearedFields(
  tool: Tool,
  data: Fields,
  { nulls, pinnedAccount }: { nulls: readonly string[]; pinnedAccount: string | undefined },
): ParsedArguments {
  const cleared = clearArgument.parse(data[clearName]) ?? []
  const request = requestOf(tool, data, pinnedAccount)
  const ignoredNulls = ignoredNullsOf(tool, nulls)
  const changesMore = tool.changes.some((name) => data[name] !== undefined)
  const problems = changeProblems(tool, request.body, { cleared, ignoredNulls, changesMore })
  if (problems.length > 0) return { ok: false, problems }
  const { body } = request
  return {
    ok: true,
    request: { ...request, ...(body && { body: withNulls(tool, body, cleared) }) },
    options: pick(data, tool.options.shape),
    cleared,
    ignoredNulls,
    readings: [],
  }
}

/**
 * The nulls that may have been meant to clear a field: all in an update, but in a creation only those
 * of settings that can be none.
 */
function ignoredNullsOf({ route, clearable }: Tool, nulls: readonly string[]): string[] {
  if (route.method !== 'PATCH') return nulls.filter((path) => clearable.includes(path))
  return nulls.filter((path) => Object.hasOwn(route.body?.shape ?? {}, path.split('.', 1)[0] ?? ''))
}

interface GivenChanges extends Pick<Parsed, 'cleared' | 'ignoredNulls'> {
  /** An argument of the tool itself changes something too. */
  readonly changesMore: boolean
}

/** Why fields cannot be cleared, or that an update changes nothing. */
function changeProblems(
  tool: Tool,
  body: RouteRequest['body'] = {},
  { cleared, ignoredNulls, changesMore }: GivenChanges,
): readonly ArgumentProblem[] {
  if (cleared.length > 0) return clearProblems(tool, body, cleared)
  const changes = Object.keys(body).length > 0 || changesMore
  if (tool.route.method !== 'PATCH' || changes) return []
  const names = [...Object.keys(tool.route.body?.shape ?? {}), ...tool.changes].join(', ')
  const clearing = tool.clearable.length > 0 ? `, or what to clear in ${clearName}` : ''
  const nothing = `nothing to change; give at least one of ${names}${clearing}`
  const meant = ignoredNulls.filter((path) => tool.clearable.includes(path))
  const example = meant.length > 0 ? `, such as ${JSON.stringify({ [clearName]: meant })}` : ''
  const message =
    ignoredNulls.length > 0 && clearing
      ? `nothing to change: null means 'not given'; name what is to be cleared in ${clearName}${example}`
      : nothing
  return [{ argument: 'arguments', message }]
}

/** Issues without those of a value that has the wrong type: its length does not matter then. */
function ofTypesFirst(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const nameOf = ({ path }: z.core.$ZodIssue) => path.join('.')
  const wrong = new Set(issues.filter(({ code }) => code === 'invalid_type').map(nameOf))
  return issues.filter((one) => one.code === 'invalid_type' || !wrong.has(nameOf(one)))
}

function problemOf(issue: z.core.$ZodIssue, tool: Tool): ArgumentProblem {
  const argument = issue.path.join('.') || 'arguments'
  const example = listExample(issue, tool.inputSchema())
  if (example) return { argument, message: `expected a list, such as ${example}` }
  // A field that is null counts as not given, so this is an item of an array.
  if (issue.input === null) return { argument, message: 'cannot be null; leave it out' }
  if (issue.input !== undefined) return { argument, message: lowerFirst(issue.message) }
  const choices = issue.code === 'invalid_value' ? `; one of ${issue.values.join(', ')}` : ''
  return { argument, message: `required${choices}` }
}

/** Longest text that is shown as a list. */
const longestExample = 200

/** A text that was given for a list of texts, as a list; `undefined`: the problem is another one. */
function listExample({ code, input, path }: z.core.$ZodIssue, schema: JsonSchema) {
  const [name = '', ...inner] = path
  const { type, items }: JsonSchema = Object(schema.properties?.[String(name)])
  const isForList = type === 'array' && Object(items).type === 'string' && inner.length === 0
  if (!isForList || code !== 'invalid_type' || typeof input !== 'string') return undefined
  const parts = input.split(',').map((part) => part.trim())
  return JSON.stringify(input.length > longestExample ? ['one', 'other'] : parts.filter(Boolean))
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function requestOf(tool: Tool, data: Fields, pinnedAccount: string | undefined): RouteRequest {
  const { params, query, body } = tool.route
  const inPath = Object.fromEntries(
    Object.entries(pick(data, params.shape)).map(([name, id]) => [name, String(id)]),
  )
  return {
    params: { ...inPath, account_id: settledAccount(inPath.account_id, pinnedAccount) },
    query: { ...tool.defaults, ...pick(data, query.shape) },
    ...(body && { body: pick(data, body.shape) }),
  }
}

const pick = (data: Fields, shape: object) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shape, name)))
