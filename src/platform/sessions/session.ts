import type { CallServices } from '../../calls/placement.ts'
import type { Client } from '../client.ts'
import type { Redact } from '../key-free.ts'
import type { ReplyCache } from './reply-cache.ts'

/** One user's access to the platform, for one connection (stdio) or one request (HTTP). */
export interface Session {
  readonly client: Client
  /** What was read with this key before, by this or another session of it. */
  readonly cache: ReplyCache
  readonly callServices: CallServices
  /** Identifies the platform: its origin and base path, or `sandbox`. */
  readonly platform: string
  /** Identifies the user: a hash of the API key. It is never stored. */
  readonly keyHash: string
  readonly isSandbox: boolean
  /** The network of the client that the key came from, where that is known. */
  readonly clientNetwork?: string | undefined
  /** The OAuth client whose access token stands for the key. */
  readonly oauthClient?: string | undefined
  /** Where the API key comes from, in words for a person. */
  readonly keySource: string
  /** The account that the operator has pinned: all tools act on it. */
  readonly pinnedAccount: string | undefined
  /**
   * Removes the key from a text that a client sent, before it is repeated. Replies of the platform are
   * free of it already.
   */
  readonly redact: Redact
}
