import type { Method } from '../contract/route.ts'

/** A request as it goes on the wire, without the base URL. */
export interface WireRequest {
  readonly method: Method
  /** Path and query, starting with `/v1/`. */
  readonly target: string
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal?: AbortSignal
  /** Longest it may take, ms, where less is left than the sender's own limits. */
  readonly timeLeftMs?: number
  /** The network of the client that the request is for, where that is known. It is never sent. */
  readonly clientNetwork?: string
}

/** A complete reply. */
export interface WireReply {
  readonly status: number
  /** Value of a header by its lower-case name. */
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/**
 * Carries one request to the platform and brings its whole reply back, once: no retry here.
 * Throws SendFailure. The seam between the client and where the platform is: the network, or the
 * sandbox in this process.
 */
export type Send = (request: WireRequest) => Promise<WireReply>
