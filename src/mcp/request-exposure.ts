import { LRUCache } from 'lru-cache'
import { isObject } from '../text/json.ts'
import { messageText } from '../text/safe-text.ts'
import type { Tool } from '../tool/tool.ts'
import {
  type Exposure,
  ExposureError,
  type ExposureSettings,
  type ExposureSource,
  narrowExposure,
} from './exposure.ts'
import type { GetHeader } from './messages.ts'

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
export function toolCallsIn(message: unknown, { tools }: Exposure): ToolCall[] {
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
