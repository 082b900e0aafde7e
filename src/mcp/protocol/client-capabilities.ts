import type { Server, ServerContext } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { metaKeys } from './envelope.ts'
import { tasksExtension } from './server-info.ts'

/** What the client of a request can do besides calling tools. */
export interface ClientFeatures {
  /** It can ask its user: it supports elicitation with forms. */
  readonly canAsk: boolean
  readonly takesTasks: boolean
}

const Capabilities = z.looseObject({
  elicitation: z.looseObject({ form: z.unknown(), url: z.unknown() }).partial().optional(),
  extensions: z.record(z.string(), z.unknown()).optional(),
})

/**
 * The features that the client of a request declares: with the request, or in the 2025 revisions
 * with `initialize`. Over stateless HTTP the latter is not known later, so such a client has none.
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

/** What the client of a request declares; `undefined`: nothing that can be read. */
export function declaredCapabilities(server: Server, { mcpReq }: ServerContext) {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope }
  const declared = envelope[metaKeys.clientCapabilities] ?? server.getClientCapabilities()
  return Capabilities.safeParse(declared).data
}
