import type { Implementation } from '@modelcontextprotocol/server'
import * as z from 'zod'
import {
  capabilitiesOf,
  type InstructionsInput,
  serverOptionsFor,
  unchangingCacheHint,
} from '../protocol/server-info.ts'

/*
 * What a client asks at the start of a connection, answered before the SDK, the tools or anything
 * else is loaded: who the server is, and which tools it has. Only messages of exactly the ordinary
 * form are answered here, and as the SDK would answer them; with the first other one the SDK takes
 * over, and is told what the client believes it has been told.
 */

/** What is made of a message. */
export interface Said {
  /** The answer, as JSON text; absent where there is none to give. */
  readonly text?: string
  /** Whoever takes over has to know of the message; its answer has been given. */
  readonly isKept?: boolean
}

/** Gives `undefined` for what is not to be answered here. */
export type StdioHandshake = (message: unknown) => Said | undefined

export interface StdioHandshakeOptions extends InstructionsInput {
  readonly info: Implementation
  /** The tools as they are listed, each as JSON text; `undefined`: that is not known yet. */
  readonly listed: readonly string[] | undefined
  /** Revisions that begin with `initialize`. */
  readonly versions: readonly string[]
}

const modernVersion = '2026-07-28'
const prefix = 'io.modelcontextprotocol'
const Client = z.strictObject({
  name: z.string(),
  version: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: z.string().optional(),
})
const JsonObject = z.record(z.string(), z.json())
/** Only what the SDK takes too, and keeps as it is: what a client can do is read from there. */
const Capabilities = z.strictObject({
  experimental: z.record(z.string(), JsonObject).optional(),
  extensions: z.record(z.string(), JsonObject).optional(),
  roots: z.strictObject({ listChanged: z.boolean().optional() }).optional(),
  sampling: z
    .strictObject({ context: JsonObject.optional(), tools: JsonObject.optional() })
    .optional(),
  elicitation: z
    .strictObject({
      form: z.strictObject({ applyDefaults: z.boolean().optional() }).optional(),
      url: JsonObject.optional(),
    })
    .optional(),
})
const request = { jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.int()]) }
const Initialize = z.strictObject({
  ...request,
  method: z.literal('initialize'),
  params: z.strictObject({
    protocolVersion: z.string(),
    capabilities: Capabilities,
    clientInfo: Client,
  }),
})
const Initialized = z.strictObject({
  jsonrpc: z.literal('2.0'),
  method: z.literal('notifications/initialized'),
  params: z.strictObject({}).optional(),
})
const List = z.strictObject({
  ...request,
  method: z.literal('tools/list'),
  params: z.strictObject({}).optional(),
})
const Modern = z.strictObject({
  ...request,
  method: z.enum(['tools/list', 'server/discover']),
  params: z.strictObject({
    _meta: z.strictObject({
      [`${prefix}/protocolVersion`]: z.literal(modernVersion),
      [`${prefix}/clientInfo`]: Client,
      [`${prefix}/clientCapabilities`]: Capabilities,
    }),
  }),
})
const Message = z.union([Initialize, Initialized, List, Modern])

export function createStdioHandshake({
  info,
  listed,
  versions,
  ...greeted
}: StdioHandshakeOptions): StdioHandshake {
  const { instructions } = serverOptionsFor(greeted, 'modern')
  const tools = () => `"tools":[${listed?.join(',')}]`
  const modern = () =>
    JSON.stringify({
      ...unchangingCacheHint,
      resultType: 'complete',
      _meta: { [`${prefix}/serverInfo`]: info },
    }).slice(1)
  /** What the connection is, once its client has shown it; a probe for the later era does not. */
  let era: 'modern' | '2025' | undefined

  return (given) => {
    const { data: message } = Message.safeParse(given)
    if (!message) return undefined
    if (!('id' in message)) return era === '2025' ? { isKept: true } : undefined
    const answer = (result: string) =>
      `{"result":${result},"jsonrpc":"2.0","id":${JSON.stringify(message.id)}}`
    if (message.method === 'initialize') {
      const { protocolVersion } = message.params
      if (era || !versions.includes(protocolVersion)) return undefined
      era = '2025'
      const capabilities = capabilitiesOf['2025']
      const result = { protocolVersion, capabilities, serverInfo: info, instructions }
      return { text: answer(JSON.stringify(result)), isKept: true }
    }
    const isModern = '_meta' in (message.params ?? {})
    if (isModern ? era === '2025' : era !== '2025') return undefined
    if (message.method === 'server/discover') {
      const capabilities = capabilitiesOf.modern
      const told = { supportedVersions: [modernVersion], capabilities, instructions }
      return { text: answer(`${JSON.stringify(told).slice(0, -1)},${modern()}`) }
    }
    if (!listed) return undefined
    if (!isModern) return { text: answer(`{${tools()}}`) }
    // Told once: to whoever takes over, it shows the era, and further ones show nothing.
    const isKept = era === undefined
    era = 'modern'
    return { text: answer(`{${tools()},${modern()}`), isKept }
  }
}
