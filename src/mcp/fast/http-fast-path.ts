import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  isSpecType,
  PROTOCOL_VERSION_META_KEY,
  ProtocolError,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Credential } from '../../session/credential.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { type CallContext, callTool } from '../call/call.ts'
import type { Tool } from '../call/tool.ts'
import type { Cancellations } from '../protocol/cancellation.ts'
import type { Exposure } from '../protocol/exposure.ts'
import { errorForClient } from '../protocol/protocol-error.ts'
import type { ExposureOfRequest, GetHeader } from '../protocol/request-exposure.ts'
import { readResource } from '../protocol/resources.ts'
import { unchangingCacheHint } from '../protocol/server-info.ts'
import type { ToolCatalogue } from '../protocol/tool-catalogue.ts'

/*
 * The short way from an HTTP request to its answer. The SDK makes a server, a transport and two
 * streams for each request; nearly all requests need none of them, because all that can come of
 * them is one answer. Only requests of exactly the ordinary form go this way, and are answered as
 * the SDK would answer them, from the same functions; whatever else is in a request, it is the
 * SDK's to judge.
 */

export interface FastPathRequest {
  readonly header: GetHeader
  readonly credential: Credential | undefined
  /** Fires when the client has gone. Made when there is something to wait for. */
  readonly signal: () => AbortSignal
}

/** Gives the answer as JSON; `undefined`: the request has to go the long way. */
export type HttpFastPath = (
  message: unknown,
  request: FastPathRequest,
) => Buffer | Promise<string> | undefined

export interface HttpFastPathOptions {
  readonly exposureFor: ExposureOfRequest
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
  readonly cancellations: Cancellations
  readonly info: Implementation
  /** Fires when the server is told to stop. */
  readonly shutdown?: AbortSignal | undefined
  readonly onBug: CallContext['onBug']
}

/** The revision whose requests bring their own version and abilities. */
const modernVersion = '2026-07-28'

/** Parts of `_meta` that every request of the modern era has. */
const envelopeKeys = [PROTOCOL_VERSION_META_KEY, CLIENT_INFO_META_KEY, CLIENT_CAPABILITIES_META_KEY]

const Meta = z.record(z.string(), z.unknown())
const OptionalMeta = Meta.optional()
const ordinary = { jsonrpc: z.literal('2.0'), id: z.union([z.string(), z.int()]) }
const Message = z.discriminatedUnion('method', [
  z.strictObject({
    ...ordinary,
    method: z.literal('tools/list'),
    params: z.strictObject({ _meta: Meta.optional() }).optional(),
  }),
  z.strictObject({
    ...ordinary,
    method: z.literal('tools/call'),
    params: z.strictObject({
      name: z.string(),
      arguments: z.record(z.string(), z.unknown()).optional(),
      _meta: Meta.optional(),
    }),
  }),
  z.strictObject({
    ...ordinary,
    method: z.literal('resources/read'),
    params: z.strictObject({ uri: z.string(), _meta: Meta.optional() }),
  }),
])
type Message = z.output<typeof Message>
type Call = Extract<Message, { method: 'tools/call' }>
type Era = 'modern' | '2025'

export function createHttpFastPath(options: HttpFastPathOptions): HttpFastPath {
  const { exposureFor, sessionFor, catalogueOf, cancellations, info, shutdown, onBug } = options
  const modernMeta = { [SERVER_INFO_META_KEY]: info }
  const listed = new WeakMap<ToolCatalogue, Record<Era, Buffer>>()

  /** The answer as bytes, as far as it does not depend on the request: writing 80 kB of text takes long. */
  const listOf = (catalogue: ToolCatalogue): Record<Era, Buffer> => {
    const known = listed.get(catalogue)
    if (known) return known
    const tools = catalogue.listed()
    const made = {
      modern: Buffer.from(JSON.stringify(completed({ tools, ...unchangingCacheHint }))),
      2025: Buffer.from(JSON.stringify({ tools })),
    }
    listed.set(catalogue, made)
    return made
  }
  const completed = (result: { readonly _meta?: unknown; readonly [part: string]: unknown }) => ({
    ...result,
    resultType: 'complete',
    _meta: { ...modernMeta, ...OptionalMeta.parse(result._meta) },
  })
  const shown = (result: Record<string, unknown>, era: Era) =>
    JSON.stringify(era === 'modern' ? completed(result) : result)

  const call = async (
    tool: Tool,
    message: Call,
    { session, exposure, era, request }: Situation,
  ): Promise<string> => {
    const work = (signal: AbortSignal) =>
      callTool(tool, message.params.arguments ?? {}, {
        session,
        tools: exposure.tools,
        signal,
        shutdown,
        onBug,
        // Who might ask goes the long way, and nobody has asked to be told how far it is.
        confirmOf: () => () => Promise.reject(new Error(`${tool.name} asks, and does not say so`)),
        progress: () => undefined,
        takesTasks: false,
      })
    const signal = request.signal()
    if (era === 'modern') return shown(await work(signal), era)
    const caller = cancellations.callerOf(session.owner, request.header)
    return shown(await cancellations.run(caller, { id: message.id, signal }, work), era)
  }

  return (given, request) => {
    const { success, data: message } = Message.safeParse(given)
    if (!success) return undefined
    const era = eraOf(message, request.header)
    if (era === undefined) return undefined
    const selected = exposureFor(request.header)
    if (!selected.ok) return undefined
    const { exposure } = selected
    const catalogue = catalogueOf(exposure)
    if (message.method === 'tools/list') return answerBytes(message, listOf(catalogue)[era])
    const session = sessionFor(request.credential)
    if (message.method === 'resources/read') {
      const reading = readResource(
        { session: restrictedSession(session, exposure.tools), onBug },
        message.params.uri,
        request.signal(),
      )
      return reading.then(
        (result) => answer(message, shown(result, era)),
        (error: unknown) => refusal(message, error, era),
      )
    }
    const tool = catalogue.byName.get(message.params.name)
    if (!tool || tool.asksConfirmation) return undefined
    if (tool.reportsProgress && message.params._meta?.progressToken !== undefined) return undefined
    return call(tool, message, { session, exposure, era, request }).then((result) =>
      answer(message, result),
    )
  }
}

interface Situation {
  readonly session: Session
  readonly exposure: Exposure
  readonly era: Era
  readonly request: FastPathRequest
}

const before = '{"result":'
const after = ({ id }: Message) => `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`

const answer = (message: Message, result: string) => before + result + after(message)

const answerBytes = (message: Message, result: Buffer) =>
  Buffer.concat([Buffer.from(before), result, Buffer.from(after(message))])

function refusal({ id }: Message, error: unknown, era: Era): string {
  if (!(error instanceof ProtocolError)) throw error
  return JSON.stringify({ jsonrpc: '2.0', id, error: errorForClient(error, era) })
}

/** The era of a request that is ordinary in all that a server has to judge; else `undefined`. */
function eraOf(message: Message, header: GetHeader): Era | undefined {
  const { params: { _meta: meta = {} } = {} } = message
  if (!isOrdinaryMeta(meta)) return undefined
  const accepted = header('accept') ?? ''
  if (!accepted.includes('application/json') || !accepted.includes('text/event-stream')) {
    return undefined
  }
  const version = header('mcp-protocol-version')
  const method = header('mcp-method')
  const name = header('mcp-name')
  if (!envelopeKeys.some((key) => key in meta)) {
    const isKnown = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
    return isKnown && method === undefined && name === undefined ? '2025' : undefined
  }
  const isModern =
    version === modernVersion &&
    meta[PROTOCOL_VERSION_META_KEY] === modernVersion &&
    method === message.method &&
    name === nameOf(message) &&
    isSpecType.Implementation(meta[CLIENT_INFO_META_KEY]) &&
    isSpecType.ClientCapabilities(meta[CLIENT_CAPABILITIES_META_KEY])
  return isModern ? 'modern' : undefined
}

/** What the header Mcp-Name repeats of a message. */
function nameOf(message: Message): string | undefined {
  switch (message.method) {
    case 'tools/list':
      return undefined
    case 'tools/call':
      return message.params.name
    case 'resources/read':
      return message.params.uri
  }
}

/** Nothing in it that the protocol gives a meaning to, besides what is looked at here. */
function isOrdinaryMeta(meta: Readonly<Record<string, unknown>>): boolean {
  const { progressToken } = meta
  const isToken = ['string', 'undefined'].includes(typeof progressToken)
  if (!isToken && !Number.isSafeInteger(progressToken)) return false
  return Object.keys(meta).every(
    (key) => !key.startsWith('io.modelcontextprotocol/') || envelopeKeys.includes(key),
  )
}
