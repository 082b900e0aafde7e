import type * as z from 'zod'
import type { RouteRequest } from '../../contract/route.ts'
import { settledAccount } from '../../session/account.ts'
import type { ArgumentProblem } from './advice.ts'
import { brokenText, brokenTextAt, unsendable } from './argument-limits.ts'
import { clearArgument, clearName, clearProblems, withNulls } from './clear-argument.ts'
import { normalise } from './normalise-arguments.ts'
import type { Tool } from './tool.ts'

export type ParsedArguments = Parsed | { ok: false; problems: readonly ArgumentProblem[] }

interface Parsed {
  ok: true
  /** What is sent; a field that is to be cleared is null in its body. */
  request: RouteRequest
  options: Record<string, unknown>
  /** Dotted paths of what is to be cleared. */
  cleared: readonly string[]
  /** Dotted paths of what was null, which means 'not given', where somebody may have meant more. */
  ignoredNulls: readonly string[]
}

/**
 * Reads a tool's arguments once, at the boundary: objects that a client sent as JSON text are
 * taken apart, null is taken as not given, unknown arguments are reported with the nearest real
 * one, everything else is parsed with the route's own schemas and sorted into path, query, body and
 * the tool's own.
 */
export function parseArguments(
  tool: Tool,
  given: Record<string, unknown>,
  pinnedAccount?: string,
): ParsedArguments {
  const reason = unsendable(given)
  if (reason) return { ok: false, problems: [{ argument: 'arguments', message: reason }] }
  const broken = brokenTextAt(given)
  if (broken !== undefined)
    return { ok: false, problems: [{ argument: broken || 'arguments', message: brokenText }] }
  const { value, nulls, problems: found } = normalise(given, tool.inputSchema())
  const problems = [...found]
  if (pinnedAccount !== undefined && (given.account_id ?? pinnedAccount) !== pinnedAccount) {
    problems.unshift({
      argument: 'account_id',
      message: `this server acts on ${pinnedAccount} only`,
    })
  }
  const parsed = tool.input.safeParse(value, { reportInput: true })
  if (!parsed.success) problems.push(...parsed.error.issues.map(problemOf))
  if (problems.length > 0 || !parsed.success) return { ok: false, problems }

  const cleared = clearArgument.parse(parsed.data[clearName]) ?? []
  const request = requestOf(tool, parsed.data, pinnedAccount)
  const ignoredNulls = ignoredIn(tool, nulls)
  const refused = refusedChange(tool, request.body, { cleared, ignoredNulls })
  if (refused.length > 0) return { ok: false, problems: refused }
  const { body } = request
  return {
    ok: true,
    request: { ...request, ...(body && { body: withNulls(tool, body, cleared) }) },
    options: pick(parsed.data, tool.options.shape),
    cleared,
    ignoredNulls,
  }
}

/**
 * The nulls of an update that somebody may have meant to clear; when something is created there is
 * nothing to clear, but a setting can be none.
 */
function ignoredIn({ route, clearable }: Tool, nulls: readonly string[]): string[] {
  if (route.method !== 'PATCH') return nulls.filter((path) => clearable.includes(path))
  return nulls.filter((path) => Object.hasOwn(route.body?.shape ?? {}, path.split('.', 1)[0] ?? ''))
}

function refusedChange(
  tool: Tool,
  body: RouteRequest['body'] = {},
  { cleared, ignoredNulls }: Pick<Parsed, 'cleared' | 'ignoredNulls'>,
): readonly ArgumentProblem[] {
  if (cleared.length > 0) return clearProblems(tool, body, cleared)
  if (tool.route.method !== 'PATCH' || Object.keys(body).length > 0) return []
  const names = Object.keys(tool.route.body?.shape ?? {}).join(', ')
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

function problemOf(issue: z.core.$ZodIssue): ArgumentProblem {
  const argument = issue.path.join('.') || 'arguments'
  // Where a field is null it counts as not given, so what is left is an item of an array.
  if (issue.input === null) return { argument, message: 'cannot be null; leave it out' }
  if (issue.input !== undefined) return { argument, message: lowerFirst(issue.message) }
  const choices = issue.code === 'invalid_value' ? `; one of ${issue.values.join(', ')}` : ''
  return { argument, message: `required${choices}` }
}

const lowerFirst = (text: string) => text.charAt(0).toLowerCase() + text.slice(1)

function requestOf(
  tool: Tool,
  data: Record<string, unknown>,
  pinnedAccount: string | undefined,
): RouteRequest {
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

const pick = (data: Record<string, unknown>, shape: object) =>
  Object.fromEntries(Object.entries(data).filter(([name]) => Object.hasOwn(shape, name)))
