import type { Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { metaKeys } from './envelope.ts'
import type { ServedRequest } from './served-request.ts'

/** Who sends a request, as far as the protocol tells. */
export interface RequestSender {
  readonly transport: 'stdio' | 'http' | 'terminal'
  /** What the client says of itself; not known of HTTP requests of the 2025 revisions. */
  readonly client: ClientName | undefined
  /** The header User-Agent. */
  readonly userAgent: string | undefined
}

const ClientName = z.object({ name: z.string(), version: z.string() })
type ClientName = z.output<typeof ClientName>

/** The client that `_meta` of a request of revision 2026-07-28 names. */
export function clientIn(meta: object | undefined): ClientName | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...meta }
  return ClientName.safeParse(fields[metaKeys.clientInfo]).data
}

/** The sender of a request that a server of the SDK answers. */
export const requestSender = (
  server: Server,
  { mcpReq }: ServerContext,
  { transport, header }: Pick<ServedRequest, 'transport' | 'header'>,
): RequestSender => ({
  transport,
  client: clientIn(mcpReq.envelope) ?? ClientName.safeParse(server.getClientVersion()).data,
  userAgent: header('user-agent'),
})
