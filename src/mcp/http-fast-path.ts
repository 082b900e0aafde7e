import {
  type Implementation,
  ProtocolError,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { declaresViews } from '../apps/views.ts'
import type { Credential } from '../platform/sessions/credential.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { Observer } from '../server/observe/observer.ts'
import type { Tool } from '../tool/tool.ts'
import { clientIn, isViewSession } from './client-of-request.ts'
import { errorForClient } from './errors.ts'
import type { Exposure } from './exposure.ts'
import {
  CallTool,
  errorResponse,
  type GetHeader,
  headerNames,
  ListTools,
  metaKeys,
  modernVersion,
  type Protocol,
  protocolOf,
  ReadResource,
  resultFor,
  resultResponse,
  resultResponseParts,
} from './messages.ts'
import { type ObservedContext, observedRequest } from './observed-request.ts'
import { readResource } from './resources.ts'
import { unchangingCacheHint } from './server-info.ts'
import type { Skill } from './skills.ts'
import { answerOnlyClient, type ToolCalls } from './tool-calls.ts'
import type { ToolCatalogue } from './tools.ts'

/*
 * Answers the most frequent HTTP requests without the MCP SDK, which creates a server, a transport
 * and two streams per request. The answers are the same as the SDK's, from the same functions. The
 * SDK gets every request that does not fully match the grammar, or that may need several messages,
 * such as a question to the user or progress notifications.
 */

/** The HTTP request around a message. */
interface FastPathRequest {
  readonly header: GetHeader
  readonly credential: Credential | undefined
  readonly exposure: Exposure
  /**
   * Creates a signal that fires when the client disconnects. Called only for work that can be
   * aborted.
   */
  readonly signal: () => AbortSignal
}

/**
 * Response body in consecutive parts, so that the cached list of tools is sent without copying it.
 */
type FastPathAnswer = readonly (string | Buffer)[]

/** Answers a request; `undefined`: the MCP SDK must answer it. */
export type HttpFastPath = (
  message: unknown,
  request: FastPathRequest,
) => Promise<FastPathAnswer> | undefined

interface HttpFastPathOptions {
  readonly info: Implementation
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly catalogueOf: (exposure: Exposure) => ToolCatalogue
  readonly skills: readonly Skill[]
  readonly toolCalls: ToolCalls
  readonly onBug: (error: unknown) => void
  readonly observer?: Observer | undefined
}

const Message = z.discriminatedUnion('method', [ListTools, CallTool, ReadResource])
type Message = z.output<typeof Message>

export function createHttpFastPath(options: HttpFastPathOptions): HttpFastPath {
  const listOf = createListCache(options.info)
  return (received, request) => {
    const { data: message } = Message.safeParse(received)
    if (!message) return undefined
    const protocol = protocolOf(message)
    if (!hasOrdinaryHeaders(message, protocol, request.header)) return undefined
    const catalogue = options.catalogueOf(request.exposure)
    const answering = { ...options, request, protocol, catalogue }
    switch (message.method) {
      case 'tools/list': {
        const [before, after] = resultResponseParts(message.id)
        const list = listOf(catalogue, protocol, asksWithViews(message, request.header))
        return observed(message, answering, async () => [before, list, after])
      }
      case 'tools/call': {
        const tool = catalogue.byName.get(message.params.name)
        return tool && !mayNeedMore(tool, message)
          ? answerCall(tool, message, answering)
          : undefined
      }
      case 'resources/read':
        return answerRead(message, answering)
    }
  }
}

/**
 * Caches the result of `tools/list` as bytes, by protocol and views: serialising its 50 kB per
 * request is slow.
 */
function createListCache(info: Implementation) {
  const cache = new WeakMap<ToolCatalogue, Map<string, Buffer>>()
  return (catalogue: ToolCatalogue, protocol: Protocol, views: boolean): Buffer => {
    const lists = cache.get(catalogue) ?? new Map<string, Buffer>()
    cache.set(catalogue, lists)
    // Hot path: no string concatenation.
    const key = views ? (protocol === 'modern' ? 'modern, views' : '2025, views') : protocol
    const known = lists.get(key)
    if (known) return known
    const hint = protocol === 'modern' ? unchangingCacheHint : {}
    const result = resultFor(protocol, { tools: catalogue.listed(views), ...hint }, info)
    const list = Buffer.from(JSON.stringify(result))
    lists.set(key, list)
    return list
  }
}

function asksWithViews(message: ListTools, header: GetHeader): boolean {
  const meta = message.params?._meta
  return meta && metaKeys.clientCapabilities in meta
    ? declaresViews(meta[metaKeys.clientCapabilities])
    : isViewSession(header)
}

/**
 * True if the answer to a tool call may take several messages: a question to the user, or progress.
 */
const mayNeedMore = (tool: Tool, { params }: CallTool) =>
  tool.asksConfirmation || (tool.reportsProgress && params._meta?.progressToken !== undefined)

interface Answering extends HttpFastPathOptions {
  readonly request: FastPathRequest
  readonly protocol: Protocol
  readonly catalogue: ToolCatalogue
}

/** Runs a request, and records it if there is an observer. */
function observed<T>(
  message: Message,
  { request, protocol, catalogue, sessionFor, observer }: Answering,
  run: () => Promise<T>,
): Promise<T> {
  const contextOf = (): ObservedContext => ({
    ...{ keyHash: sessionFor(request.credential).keyHash, protocol, transport: 'http' },
    header: request.header,
    isTool: (name) => catalogue.byName.has(name),
    isPrompt: () => false,
  })
  return observedRequest(observer, message, contextOf, run)
}

async function answerCall(
  tool: Tool,
  message: CallTool,
  answering: Answering,
): Promise<FastPathAnswer> {
  const { request, protocol, info, sessionFor, toolCalls } = answering
  const { id, params } = message
  const result = await observed(message, answering, () =>
    toolCalls.run(tool, params.arguments ?? {}, {
      session: sessionFor(request.credential),
      tools: request.exposure.tools,
      client: answerOnlyClient,
      sender: () => ({
        transport: 'http',
        client: clientIn(params._meta),
        userAgent: request.header('user-agent'),
      }),
      signal: request.signal(),
      stateless: protocol === '2025' ? { id, header: request.header } : undefined,
    }),
  )
  return [resultResponse(id, JSON.stringify(resultFor(protocol, result, info)))]
}

async function answerRead(message: ReadResource, answering: Answering): Promise<FastPathAnswer> {
  const { request, protocol, info, sessionFor, skills, onBug } = answering
  const { id, params } = message
  const session = restrictedSession(sessionFor(request.credential), request.exposure.tools)
  try {
    const result = await observed(message, answering, () =>
      readResource({ session, skills, onBug }, params.uri, request.signal()),
    )
    return [resultResponse(id, JSON.stringify(resultFor(protocol, result, info)))]
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    return [JSON.stringify(errorResponse(id, errorForClient(error, protocol)))]
  }
}

/**
 * True if the request has exactly the headers that its revision prescribes. Other requests are left
 * to the SDK.
 */
function hasOrdinaryHeaders(message: Message, protocol: Protocol, header: GetHeader): boolean {
  const accept = header('accept') ?? ''
  if (!accept.includes('application/json') || !accept.includes('text/event-stream')) return false
  const version = header(headerNames.protocolVersion)
  const method = header(headerNames.method)
  const name = header(headerNames.name)
  if (protocol === 'modern')
    return version === modernVersion && method === message.method && name === nameOf(message)
  // The revisions before 2025-06-18 have no header for the version.
  const isLegacy = version === undefined || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
  return isLegacy && method === undefined && name === undefined
}

/** Required value of the header Mcp-Name. */
function nameOf(message: Message): string | undefined {
  if (message.method === 'tools/call') return message.params.name
  return message.method === 'resources/read' ? message.params.uri : undefined
}
