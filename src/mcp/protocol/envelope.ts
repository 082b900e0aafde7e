import type {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  Implementation,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '@modelcontextprotocol/server'

/*
 * What surrounds the content of requests and results in each protocol revision. The stdio handshake
 * needs it before the SDK is loaded, so nothing but types is imported here.
 */

/**
 * How a client speaks the protocol. `2025`: by the revisions up to 2025-11-25, which begin with
 * `initialize`. `modern`: by revision 2026-07-28, whose requests carry the version and the client's
 * capabilities in `_meta`.
 */
export type Era = '2025' | 'modern'

export const modernVersion = '2026-07-28'

/** Keys of `_meta` as the SDK exports them; the types keep both the same. */
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
  /** The name of the tool or the address of the resource in the body (2026-07-28). */
  name: 'mcp-name',
  /**
   * Names a client of the 2025 revisions. This server keeps no sessions: the name only tells the
   * clients of one API key apart, so that a cancellation reaches the right request.
   */
  session: 'mcp-session-id',
}

/** The value of a request's header; repeated headers are joined by commas. */
export type GetHeader = (name: string) => string | undefined

/** What a result contains besides what its method defines. */
type Result = Readonly<Record<string, unknown>> & { readonly _meta?: unknown }

/** The result of a request that is answered completely, as the era of its client defines it. */
export const resultFor = (era: Era, result: Result, serverInfo: Implementation): Result =>
  era === 'modern'
    ? {
        ...result,
        resultType: 'complete',
        _meta: { [metaKeys.serverInfo]: serverInfo, ...(result._meta ?? {}) },
      }
    : result
