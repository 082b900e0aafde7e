import { LRUCache } from 'lru-cache'
import { messageText } from '../../text/client-text.ts'
import type { GetHeader } from './envelope.ts'
import {
  type Exposure,
  ExposureError,
  type ExposureSource,
  type ExposureWish,
  narrow,
} from './exposure.ts'

export type RequestExposure =
  | { readonly ok: true; readonly exposure: Exposure }
  | { readonly ok: false; readonly message: string }

/** What is exposed to an HTTP request by its headers. */
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

/** Combinations of headers that are kept: clients send the same ones with each request. */
const mostKept = 100

/** Lets each request have less than the operator exposes, computed once for the same headers. */
export function createRequestExposure(operators: Exposure): ExposureOfRequest {
  const whole: RequestExposure = { ok: true, exposure: operators }
  const kept = new LRUCache<string, RequestExposure>({ max: mostKept })
  return (header) => {
    const wanted = wantedBy(header)
    if (!wanted) return whole
    const key = JSON.stringify(wanted)
    const known = kept.get(key)
    if (known) return known
    const selected = select(operators, wanted)
    kept.set(key, selected)
    return selected
  }
}

function wantedBy(header: GetHeader): ExposureWish | undefined {
  const { names } = requestHeaders
  const toolsets = header(names.toolsets)
  const tools = header(names.tools)
  const excludeTools = header(names.excludeTools)
  const spellings = [header(names.readOnly), header('X-MCP-Readonly')]
  const readOnly = spellings.filter((text) => text?.trim()).join(',')
  const isNone = !toolsets && !tools && !excludeTools && !readOnly
  return isNone ? undefined : { toolsets, tools, excludeTools, readOnly }
}

function select(operators: Exposure, wanted: ExposureWish): RequestExposure {
  try {
    return { ok: true, exposure: narrow(operators, wanted, requestHeaders) }
  } catch (error) {
    if (!(error instanceof ExposureError)) throw error
    return { ok: false, message: messageText(error.message) }
  }
}
