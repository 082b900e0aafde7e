import type {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Implementation,
  JSONRPCErrorResponse,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'
import * as z from 'zod/mini'

/*
 * JSON-RPC messages of the protocol revisions: envelopes, and schemas of the most frequent
 * requests. The stdio handshake needs this file before the MCP SDK is loaded, so it imports only
 * types of the SDK. Its schemas use zod/mini, as does all code loaded at start: that saves a tenth
 * of the work before the first answer.
 */

/**
 * Protocol family of a client. `2025`: revisions up to 2025-11-25, which begin with `initialize`.
 * `modern`: revision 2026-07-28, whose requests carry the version and the client's capabilities in
 * `_meta`.
 */
export type Protocol = '2025' | 'modern'

export const modernVersion = '2026-07-28'

/** Keys of `_meta`, equal to the MCP SDK's. The types guarantee equality. */
export const metaKeys: {
  readonly protocolVersion: typeof PROTOCOL_VERSION_META_KEY
  readonly clientInfo: typeof CLIENT_INFO_META_KEY
  readonly clientCapabilities: typeof CLIENT_CAPABILITIES_META_KEY
  readonly serverInfo: typeof SERVER_INFO_META_KEY
} = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
}

/** Headers of the Streamable HTTP transport. */
export const headerNames = {
  protocolVersion: 'mcp-protocol-version',
  /** The method of the message in the body (2026-07-28). */
  method: 'mcp-method',
  /** Tool name or resource URI in the body (2026-07-28). */
  name: 'mcp-name',
  /**
   * Identifies a client of the 2025 revisions. This server keeps no sessions: the value only tells
   * the clients of one API key apart, so that a cancellation reaches the right request.
   */
  session: 'mcp-session-id',
}

/** The value of a request's header; repeated headers are joined by commas. */
export type GetHeader = (name: string) => string | undefined

/** A result of any method. */
type Result = Readonly<Record<string, unknown>> & { readonly _meta?: unknown }

/**
 * Completes a result for the client's revision. 2026-07-28 also requires `resultType`, and the
 * server's name and version in `_meta`.
 */
export const resultFor = (
  protocol: Protocol,
  result: Result,
  serverInfo: Implementation,
): Result =>
  protocol === 'modern'
    ? {
        ...result,
        resultType: 'complete',
        _meta: { [metaKeys.serverInfo]: serverInfo, ...(result._meta ?? {}) },
      }
    : result

/* JSON-RPC 2.0 messages. */

/** Numbers are safe integers: larger ones may lose digits when JSON is parsed. */
export const RequestId = z.union([z.string(), z.int()])
export type RequestId = z.output<typeof RequestId>

/** Error response; `id` is null if the request's id is unknown. */
export function errorResponse(
  id: RequestId | null,
  error: JSONRPCErrorResponse['error'],
): JSONRPCErrorResponse {
  // JSON-RPC 2.0 §5 requires null; the SDK's type does not have it.
  return { jsonrpc: '2.0', id: id as RequestId, error }
}

/** The text of a result response before and after its `result`, in the SDK's order of members. */
export const resultResponseParts = (id: RequestId): readonly [before: string, after: string] => [
  '{"result":',
  `,"jsonrpc":"2.0","id":${JSON.stringify(id)}}`,
]

/** A result response as JSON text; `result` is JSON text. */
export function resultResponse(id: RequestId, result: string): string {
  const [before, after] = resultResponseParts(id)
  return before + result + after
}

/*
 * The grammar of messages that the fast paths answer. It is stricter than the MCP SDK: a message
 * that does not match is not refused, but left to the SDK. Every accepted message is also valid for
 * the SDK. Used before the SDK is loaded.
 */

const JsonObject = z.record(z.string(), z.unknown())

const ClientInfo = z.object({
  name: z.string(),
  version: z.string(),
  title: z.optional(z.string()),
  description: z.optional(z.string()),
  websiteUrl: z.optional(z.string()),
  icons: z.optional(
    z.array(
      z.object({
        src: z.string(),
        mimeType: z.optional(z.string()),
        sizes: z.optional(z.array(z.string())),
        theme: z.optional(z.enum(['light', 'dark'])),
      }),
    ),
  ),
})

const ClientCapabilities = z.object({
  experimental: z.optional(z.record(z.string(), JsonObject)),
  extensions: z.optional(z.record(z.string(), JsonObject)),
  roots: z.optional(z.object({ listChanged: z.optional(z.boolean()) })),
  sampling: z.optional(
    z.object({ context: z.optional(JsonObject), tools: z.optional(JsonObject) }),
  ),
  elicitation: z.optional(
    z.object({
      form: z.optional(z.object({ applyDefaults: z.optional(z.boolean()) })),
      url: z.optional(JsonObject),
    }),
  ),
  tasks: z.optional(
    z.object({
      list: z.optional(JsonObject),
      cancel: z.optional(JsonObject),
      requests: z.optional(
        z.object({
          sampling: z.optional(z.object({ createMessage: z.optional(JsonObject) })),
          elicitation: z.optional(z.object({ create: z.optional(JsonObject) })),
        }),
      ),
    }),
  ),
})

/** Prefix of `_meta` keys that the protocol reserves. */
const reservedPrefix = 'io.modelcontextprotocol/'

/** True if `_meta` has no reserved keys except those in `accepted`. */
const withoutOtherReservedKeys = (accepted: readonly string[]) => (meta: object) =>
  Object.keys(meta).every((key) => !key.startsWith(reservedPrefix) || accepted.includes(key))

const progressToken = z.optional(RequestId)

const modernKeys = {
  [metaKeys.protocolVersion]: z.literal(modernVersion),
  [metaKeys.clientInfo]: ClientInfo,
  [metaKeys.clientCapabilities]: ClientCapabilities,
}

/** `_meta` of a request of revision 2026-07-28. */
const ModernMeta = z
  .looseObject({ progressToken, ...modernKeys })
  .check(z.refine(withoutOtherReservedKeys(Object.keys(modernKeys))))

/** `_meta` of a request of the 2025 revisions. */
const LegacyMeta = z.looseObject({ progressToken }).check(z.refine(withoutOtherReservedKeys([])))

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
  params: z.optional(z.strictObject({})),
})

export const Discover = z.strictObject({
  ...request,
  method: z.literal('server/discover'),
  params: z.strictObject({ _meta: ModernMeta }),
})

/** `tools/list` without a cursor. The list is one page, so the SDK refuses every cursor. */
export const ListTools = z.strictObject({
  ...request,
  method: z.literal('tools/list'),
  params: z.optional(z.strictObject({ _meta: z.optional(Meta) })),
})
export type ListTools = z.output<typeof ListTools>

export const CallTool = z.strictObject({
  ...request,
  method: z.literal('tools/call'),
  params: z.strictObject({
    name: z.string(),
    arguments: z.optional(JsonObject),
    _meta: z.optional(Meta),
  }),
})
export type CallTool = z.output<typeof CallTool>

export const ReadResource = z.strictObject({
  ...request,
  method: z.literal('resources/read'),
  params: z.strictObject({ uri: z.string(), _meta: z.optional(Meta) }),
})
export type ReadResource = z.output<typeof ReadResource>

/** The protocol family of a request that matches one of the schemas above. */
export const protocolOf = ({
  params,
}: {
  readonly params?: { readonly _meta?: object | undefined } | undefined
}): Protocol => (metaKeys.protocolVersion in (params?._meta ?? {}) ? 'modern' : '2025')
