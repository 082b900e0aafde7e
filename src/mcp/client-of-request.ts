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
   * True for an HTTP request of the 2025 revisions. Without sessions, there is no stream except for
   * the response.
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
 * Client name in the first message of a connection; `undefined`: another message, or no name. The
 * name is untrusted.
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

/** Features of a client beyond tool calls. */
interface ClientFeatures {
  /** True if the client can ask its user: it supports elicitation with forms. */
  readonly canAsk: boolean
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

/*
 * Detects clients that show views. Other clients get no views in tools and resources, to save
 * tokens.
 */

/** True if the client of a request shows views. */
export const showsViews = (
  server: Server,
  context: ServerContext,
  { header, isStatelessLegacy }: Pick<ServedRequest, 'header' | 'isStatelessLegacy'>,
): boolean =>
  isStatelessLegacy ? isViewSession(header) : declaresViews(declaredCapabilities(server, context))

const prefix = 'views-'

/**
 * Creates the session header of a client of the 2025 revisions from its capabilities. This server
 * is stateless, so the header, which the client returns with each request, encodes whether it shows
 * views.
 */
export const newSession = (capabilities: unknown): string =>
  `${declaresViews(capabilities) ? prefix : ''}${randomUUID()}`

/** True if a 2025 HTTP request comes from a client that shows views. */
export const isViewSession = (header: GetHeader): boolean =>
  header(headerNames.session)?.startsWith(prefix) ?? false
