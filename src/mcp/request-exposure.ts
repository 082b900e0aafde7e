import { LRUCache } from 'lru-cache'
import { type Scope, scopes } from '../platform/sessions/session.ts'
import { isObject } from '../text/json.ts'
import { messageText } from '../text/safe-text.ts'
import {
  type ExposableTool,
  type Exposure,
  ExposureError,
  type ExposureSettings,
  type ExposureSource,
  narrowExposure,
} from './exposure.ts'
import type { GetHeader } from './messages.ts'

/** What is exposed to an HTTP request, or why its headers are refused. */
type RequestExposure =
  | { readonly ok: true; readonly exposure: Exposure }
  | { readonly ok: false; readonly message: string }

/** `allowed`: the scopes of the request's access token; `undefined` for an API key. */
export type ExposureOfRequest = (
  header: GetHeader,
  allowed?: readonly Scope[] | undefined,
) => RequestExposure

const requestHeaders: ExposureSource = {
  who: "this request's header",
  names: {
    toolsets: 'X-MCP-Toolsets',
    tools: 'X-MCP-Tools',
    excludeTools: 'X-MCP-Exclude-Tools',
    readOnly: 'X-MCP-Read-Only',
  },
}

/** Most combinations of headers that are kept: a client sends the same ones with each request. */
const maxKept = 100

/** Lets the headers of a request restrict what the operator exposes. Results are kept and reused. */
export function createRequestExposure(operators: Exposure): ExposureOfRequest {
  const unrestricted: RequestExposure = { ok: true, exposure: operators }
  const kept = new LRUCache<string, RequestExposure>({ max: maxKept })
  return (header, allowed) => {
    const settings = settingsIn(header)
    if (!settings && !allowed) return unrestricted
    const key = JSON.stringify([settings, allowed])
    const known = kept.get(key)
    if (known) return known
    const requested = settings ? restricted(operators, settings) : unrestricted
    const exposure = allowed ? withinScopes(requested, allowed) : requested
    kept.set(key, exposure)
    return exposure
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

const withinScopes = (requested: RequestExposure, allowed: readonly Scope[]): RequestExposure =>
  requested.ok ? { ok: true, exposure: scopedExposure(requested.exposure, allowed) } : requested

/** The scope that an access token must have for a tool. */
const scopeOf = ({ effect }: Pick<ExposableTool, 'effect'>): Scope => {
  if (effect === 'reads') return 'read'
  return effect === 'bills' ? 'call' : 'write'
}

/** The scopes that some of these tools need. */
export const scopesOf = (tools: readonly Pick<ExposableTool, 'effect'>[]): readonly Scope[] => {
  const needed = new Set(tools.map(scopeOf))
  return scopes.filter((scope) => needed.has(scope))
}

/** Restricts an exposure to the tools that an access token allows; none may be left. */
function scopedExposure<T extends ExposableTool>(
  exposure: Exposure<T>,
  allowed: readonly Scope[],
): Exposure<T> {
  const refused = exposure.tools.filter((tool) => !allowed.includes(scopeOf(tool)))
  if (refused.length === 0) return exposure
  const reasons = refused.map(
    (tool) => [tool.name, `this access token, which has no scope ${scopeOf(tool)}`] as const,
  )
  return {
    all: exposure.all,
    tools: exposure.tools.filter((tool) => !refused.includes(tool)),
    hidden: new Map([...exposure.hidden, ...reasons]),
  }
}

/**
 * The scopes that a message needs where its access token does not have them; `undefined` where it has.
 * Changing and calling include reading: what is changed or called has to be found first.
 */
export function missingScopes(
  message: unknown,
  { tools }: Exposure,
  allowed: readonly Scope[],
): readonly Scope[] | undefined {
  const names = new Set((Array.isArray(message) ? message : [message]).map(calledTool))
  const refused = tools.filter((tool) => names.has(tool.name) && !allowed.includes(scopeOf(tool)))
  if (refused.length === 0) return undefined
  const needed = new Set<Scope>(['read', ...refused.map(scopeOf)])
  return scopes.filter((scope) => needed.has(scope))
}

/** Not parsed by a schema: this is done for every request, and the message is parsed later. */
const calledTool = (message: unknown): unknown =>
  isObject(message) && message.method === 'tools/call' && isObject(message.params)
    ? message.params.name
    : undefined
