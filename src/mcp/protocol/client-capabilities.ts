import {
  CLIENT_CAPABILITIES_META_KEY,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import { tasksExtension } from './server-info.ts'

/** What a client can do beyond calling tools. */
export interface ClientFeatures {
  /** It can ask a person: it takes elicitation by form. */
  readonly canAsk: boolean
  readonly takesTasks: boolean
}

const Capabilities = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown(), url: z.unknown() }).partial().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
})

/**
 * What the client of a request has declared: with the request itself, or in the 2025 revisions when
 * the connection began. Over stateless HTTP those reach no request, so such clients can do nothing.
 */
export function clientFeaturesOf(server: Server, { mcpReq }: ServerContext): ClientFeatures {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope }
  const declared = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities()
  const { data } = Capabilities.safeParse(declared)
  const asking = data?.elicitation
  return {
    // An empty object means forms: only that was there before there were addresses to visit.
    canAsk: asking !== undefined && (asking.form !== undefined || asking.url === undefined),
    takesTasks: mcpReq.envelope !== undefined && tasksExtension in (data?.extensions ?? {}),
  }
}
