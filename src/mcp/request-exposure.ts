import { LRUCache } from 'lru-cache'
import { type Scope, scopes } from '../platform/sessions/credential.ts'
import { isObject } from '../text/json.ts'
import { messageText } from '../text/safe-text.ts'
import type { Tool } from '../tool/tool.ts'
import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureSettings,
  type ExposureSource,
  narrowExposure,
} from './exposure.ts'
import type { GetHeader } from './messages.ts'

/*
 * The tools that an HTTP request may see: those of the operator, restricted by the request's headers
 * and by the scopes of its access token.
 */

/**
 * Tools exposed to an HTTP request after the restrictions in its headers, or why the request is
 * refused.
 */
type RequestExposure =
  | { readonly ok: true; readonly exposure: Exposure }
  | { readonly ok: false; readonly message: string }

export type ExposureOfRequest = (header: GetHeader) => RequestExposure

const requestHeaders: ExposureSource = {
  who: "this request's header",
  names: {
    toolsets: 'X-MCP-Toolsets',
    tools: 'X-MCP-Tools',
    excludeTools: 'X-MCP-Exclude-Tools',
    readOnly: 'X-MCP-Read-Only',
  },
}

/** Maximum cached combinations of headers. A client sends the same headers with each request. */
const maxKept = 100

/** Restricts the operator's exposure by the headers of a request. Results are cached. */
export function createRequestExposure(operators: Exposure): ExposureOfRequest {
  const unrestricted: RequestExposure = { ok: true, exposure: operators }
  const kept = new LRUCache<string, RequestExposure>({ max: maxKept })
  return (header) => {
    const settings = settingsIn(header)
    if (!settings) return unrestricted
    const key = JSON.stringify(settings)
    const known = kept.get(key)
    if (known) return known
    const requested = restricted(operators, settings)
    kept.set(key, requested)
    return requested
  }
}

function settingsIn(header: GetHeader): ExposureSettings | undefined {
  const { names } = requestHeaders
  const toolsets = header(names.toolsets)
  const tools = header(names.tools)
  const excludeTools = header(names.excludeTools)
  const spellings = [header(names.readOnly), header('X-MCP-Readonly')]
  const readOnly = spellings.filter((text) => text?.trim()).join(',')
  const hasNone = !toolsets && !tools && !excludeTools && !readOnly
  return hasNone ? undefined : { toolsets, tools, excludeTools, readOnly }
}

function restricted(operators: Exposure, settings: ExposureSettings): RequestExposure {
  try {
    return { ok: true, exposure: narrowExposure(operators, settings, requestHeaders) }
  } catch (error) {
    if (!(error instanceof ExposureError)) throw error
    return { ok: false, message: messageText(error.message) }
  }
}

/** The scope that an access token must have for a tool. */
const scopeOf = ({ effect }: Pick<ExposableTool, 'effect'>): Scope => {
  if (effect === 'reads') return 'read'
  return effect === 'bills' ? 'call' : 'write'
}

export const scopesOf = (tools: readonly Pick<ExposableTool, 'effect'>[]): readonly Scope[] => {
  const needed = new Set(tools.map(scopeOf))
  return scopes.filter((scope) => needed.has(scope))
}

/** Cache of exposures restricted by scopes. */
const scoped = new WeakMap<Exposure, Map<string, Exposure>>()

/**
 * Restricts an exposure to the tools that an access token allows, which may be none. `allowed` is
 * `undefined` for an API key, which allows all. Tools that place calls stay listed (`grantable`)
 * without their scope: a client asks its user for the scope only when such a tool is called, and
 * the consent page leaves the scope unticked by default, so its absence is no refusal.
 */
export function scopedExposure(
  exposure: Exposure,
  allowed: readonly Scope[] | undefined,
): Exposure {
  if (!allowed) return exposure
  const byScopes = scoped.get(exposure) ?? new Map<string, Exposure>()
  scoped.set(exposure, byScopes)
  const key = scopes.filter((scope) => allowed.includes(scope)).join(' ')
  const known = byScopes.get(key)
  if (known) return known
  const within = withinScopes(exposure, allowed)
  byScopes.set(key, within)
  return within
}

function withinScopes(exposure: Exposure, allowed: readonly Scope[]): Exposure {
  const refused = exposure.tools.filter((tool) => !allowed.includes(scopeOf(tool)))
  if (refused.length === 0) return exposure
  const reasons = refused.map(
    (tool) => [tool.name, `this access token, which has no scope ${scopeOf(tool)}`] as const,
  )
  return {
    all: exposure.all,
    tools: exposure.tools.filter((tool) => !refused.includes(tool)),
    hidden: new Map([...exposure.hidden, ...reasons]),
    grantable: refused.filter((tool) => scopeOf(tool) === 'call'),
  }
}

/**
 * Returns the scopes that a client must request for a message or batch, if its access token lacks
 * one; otherwise `undefined`. Changing and calling include reading, to find their target. The
 * token's own scopes are included, because clients of the 2025 revisions request exactly the
 * returned scopes.
 */
export function missingScopes(
  message: unknown,
  exposure: Exposure,
  allowed: readonly Scope[] | undefined,
): readonly Scope[] | undefined {
  if (!allowed) return undefined
  const needed = toolCallsIn(message, exposure).map(({ tool }) => scopeOf(tool))
  const refused = needed.filter((scope) => !allowed.includes(scope))
  return refused.length === 0
    ? undefined
    : scopes.filter((scope) => scope === 'read' || [...allowed, ...refused].includes(scope))
}

/**
 * Number of tool calls in a message or batch that wait for telephone calls, each for up to a
 * minute.
 */
export const waitsIn = (message: unknown, exposure: Exposure): number =>
  toolCallsIn(message, exposure).filter(isWait).length

interface ToolCall {
  readonly tool: Tool
  readonly args: unknown
}

/**
 * Tool calls of exposed tools in a message or batch. Hot path: no schema here, because the message
 * is parsed later.
 */
function toolCallsIn(message: unknown, { tools }: Exposure): ToolCall[] {
  const messages: readonly unknown[] = Array.isArray(message) ? message : [message]
  const calls: ToolCall[] = []
  for (const one of messages) {
    if (!isObject(one) || one.method !== 'tools/call' || !isObject(one.params)) continue
    const { name, arguments: args } = one.params
    const tool = tools.find((exposed) => exposed.name === name)
    if (tool) calls.push({ tool, args })
  }
  return calls
}

const isWait = ({ tool: { waits }, args }: ToolCall): boolean =>
  waits === 'always' || (waits !== undefined && isObject(args) && isTrue(args[waits.with]))

/** Also true for the text `true`, which tool/coercion.ts coerces. */
const isTrue = (value: unknown) =>
  value === true || (typeof value === 'string' && value.trim().toLowerCase() === 'true')
