import * as z from 'zod'
import { type Era, metaKeys, modernVersion } from '../protocol/envelope.ts'
import { RequestId } from '../protocol/json-rpc.ts'

/*
 * The grammar of the messages that the fast paths answer. It accepts less than the SDK does: a
 * message that does not match is not refused, but left to the SDK. What it accepts, the SDK accepts
 * too. It is used before the SDK is loaded.
 */

const JsonObject = z.record(z.string(), z.unknown())

const ClientInfo = z.object({
  name: z.string(),
  version: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  websiteUrl: z.string().optional(),
  icons: z
    .array(
      z.object({
        src: z.string(),
        mimeType: z.string().optional(),
        sizes: z.array(z.string()).optional(),
        theme: z.enum(['light', 'dark']).optional(),
      }),
    )
    .optional(),
})

const ClientCapabilities = z.object({
  experimental: z.record(z.string(), JsonObject).optional(),
  extensions: z.record(z.string(), JsonObject).optional(),
  roots: z.object({ listChanged: z.boolean().optional() }).optional(),
  sampling: z.object({ context: JsonObject.optional(), tools: JsonObject.optional() }).optional(),
  elicitation: z
    .object({
      form: z.object({ applyDefaults: z.boolean().optional() }).optional(),
      url: JsonObject.optional(),
    })
    .optional(),
  tasks: z
    .object({
      list: JsonObject.optional(),
      cancel: JsonObject.optional(),
      requests: z
        .object({
          sampling: z.object({ createMessage: JsonObject.optional() }).optional(),
          elicitation: z.object({ create: JsonObject.optional() }).optional(),
        })
        .optional(),
    })
    .optional(),
})

/** Keys of `_meta` that begin so are defined by the protocol; the grammar names those it accepts. */
const reservedPrefix = 'io.modelcontextprotocol/'

const withoutOtherReservedKeys = (accepted: readonly string[]) => (meta: object) =>
  Object.keys(meta).every((key) => !key.startsWith(reservedPrefix) || accepted.includes(key))

const progressToken = RequestId.optional()

const modernKeys = {
  [metaKeys.protocolVersion]: z.literal(modernVersion),
  [metaKeys.clientInfo]: ClientInfo,
  [metaKeys.clientCapabilities]: ClientCapabilities,
}

/** `_meta` of a request of revision 2026-07-28. */
const ModernMeta = z
  .looseObject({ progressToken, ...modernKeys })
  .refine(withoutOtherReservedKeys(Object.keys(modernKeys)))

/** `_meta` of a request of the 2025 revisions. */
const LegacyMeta = z.looseObject({ progressToken }).refine(withoutOtherReservedKeys([]))

const Meta = z.union([ModernMeta, LegacyMeta])

const request = { jsonrpc: z.literal('2.0'), id: RequestId }

export const Initialize = z.strictObject({
  ...request,
  method: z.literal('initialize'),
  params: z.strictObject({
    protocolVersion: z.string(),
    capabilities: ClientCapabilities,
    clientInfo: ClientInfo,
  }),
})

export const Initialized = z.strictObject({
  jsonrpc: z.literal('2.0'),
  method: z.literal('notifications/initialized'),
  params: z.strictObject({}).optional(),
})

export const Discover = z.strictObject({
  ...request,
  method: z.literal('server/discover'),
  params: z.strictObject({ _meta: ModernMeta }),
})

/** Without a cursor: the list is one page, so no cursor is ever valid. */
export const ListTools = z.strictObject({
  ...request,
  method: z.literal('tools/list'),
  params: z.strictObject({ _meta: Meta.optional() }).optional(),
})
export type ListTools = z.output<typeof ListTools>

export const CallTool = z.strictObject({
  ...request,
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: JsonObject.optional(),
    _meta: Meta.optional(),
  }),
})
export type CallTool = z.output<typeof CallTool>

export const ReadResource = z.strictObject({
  ...request,
  method: z.literal('resources/read'),
  params: z.strictObject({ uri: z.string(), _meta: Meta.optional() }),
})
export type ReadResource = z.output<typeof ReadResource>

/** The era of a request that matches the grammar. */
export const eraOf = ({
  params,
}: {
  readonly params?: { readonly _meta?: object | undefined } | undefined
}): Era => (metaKeys.protocolVersion in (params?._meta ?? {}) ? 'modern' : '2025')
