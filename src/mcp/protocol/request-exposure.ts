import { LRUCache } from 'lru-cache'
import type { Scope } from '../../session/credential.ts'
import { messageText } from '../../text/client-text.ts'
import type { GetHeader } from './envelope.ts'
import {
  type Exposure,
  ExposureError,
  type ExposureSettings,
  type ExposureSource,
  narrowExposure,
} from './exposure.ts'
import { scopedExposure } from './scoped-exposure.ts'

/** What is exposed to an HTTP request, or why its headers are refused. */
export type RequestExposure =
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
