import { randomUUID } from 'node:crypto'
import type { Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { declaresViews } from '../apps/views.ts'
import type { Session } from '../platform/sessions/session.ts'
import { isObject } from '../text/json.ts'
import type { Exposure } from './exposure.ts'
import { type GetHeader, headerNames, metaKeys } from './messages.ts'
import { tasksExtension } from './server-info.ts'

export interface ServedRequest {
  readonly session: Session
  readonly exposure: Exposure
  readonly header: GetHeader
  readonly transport: 'stdio' | 'http'
  /**
   * True for an HTTP request of the 2025 revisions. It has no session, so the server can send
   * messages only in the response.
   */
  readonly isStatelessLegacy: boolean
}

/** The sender of a request, as far as the protocol identifies it. */
export interface RequestSender {
  readonly transport: 'stdio' | 'http' | 'terminal'
  /** The client's own description; unknown for HTTP requests of the 2025 revisions. */
  readonly client: ClientName | undefined
  readonly userAgent: string | undefined
}

const ClientName = z.object({ name: z.string(), version: z.string() })
type ClientName = z.output<typeof ClientName>

/** The client named in `_meta` of a request of revision 2026-07-28. */
export function clientIn(meta: object | undefined): ClientName | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...meta }
  return ClientName.safeParse(fields[metaKeys.clientInfo]).data
}

/**
 * Name of the client in the first message of a connection (`initialize` or `server/discover`),
 * untrusted. `undefined` for other messages.
 */
export function connectingClient(message: unknown): string | undefined {
  const { method, params }: Readonly<Record<string, unknown>> = isObject(message) ? message : {}
  const { clientInfo, _meta } = isObject(params) ? params : {}
  if (method === 'initialize') return ClientName.safeParse(clientInfo).data?.name
  return method === 'server/discover' && isObject(_meta) ? clientIn(_meta)?.name : undefined
}

export const requestSender = (
  server: Server,
  { mcpReq }: ServerContext,
  { transport, header }: Pick<ServedRequest, 'transport' | 'header'>,
): RequestSender => ({
  transport,
  client: clientIn(mcpReq.envelope) ?? ClientName.safeParse(server.getClientVersion()).data,
  userAgent: header('user-agent'),
})

/** Optional features of a client that change how a tool call is answered. */
interface ClientFeatures {
  /** True if the client can ask its user: it supports elicitation with forms. */
  readonly canAsk: boolean
  /** True if a tool may answer with a task (SEP-2663), which needs revision 2026-07-28. */
  readonly takesTasks: boolean
}

const Capabilities = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown(), url: z.unknown() }).partial().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
})

/**
 * Returns the features that a client declares: with the request, or in the 2025 revisions with
 * `initialize`. Stateless HTTP does not store what `initialize` declared, so a 2025 client has no
 * features there.
 */
export function clientFeaturesOf(server: Server, context: ServerContext): ClientFeatures {
  const capabilities = declaredCapabilities(server, context)
  const elicitation = capabilities?.elicitation
  return {
    // An empty object means forms: earlier revisions had no other mode.
    canAsk:
      elicitation !== undefined &&
      (elicitation.form !== undefined || elicitation.url === undefined),
    takesTasks:
      context.mcpReq.envelope !== undefined && tasksExtension in (capabilities?.extensions ?? {}),
  }
}

/** The capabilities that the client of a request declares; `undefined` if they cannot be read. */
function declaredCapabilities(server: Server, { mcpReq }: ServerContext) {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope }
  const declared = envelope[metaKeys.clientCapabilities] ?? server.getClientCapabilities()
  return Capabilities.safeParse(declared).data
}

/**
 * True if the client shows views (MCP Apps). For other clients, tools and resources are listed
 * without views, to save tokens.
 */
export const showsViews = (
  server: Server,
  context: ServerContext,
  { header, isStatelessLegacy }: Pick<ServedRequest, 'header' | 'isStatelessLegacy'>,
): boolean =>
  isStatelessLegacy ? isViewSession(header) : declaresViews(declaredCapabilities(server, context))

const prefix = 'views-'

/**
 * Creates the session id of a client of the 2025 revisions. The server keeps no sessions: the
 * client returns the id with each request, and a prefix of the id encodes whether it shows views.
 */
export const newSession = (capabilities: unknown): string =>
  `${declaresViews(capabilities) ? prefix : ''}${randomUUID()}`

/** True if the session header was issued by `newSession` to a client that shows views. */
export const isViewSession = (header: GetHeader): boolean =>
  header(headerNames.session)?.startsWith(prefix) ?? false
