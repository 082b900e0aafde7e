import type { Client } from '../api/client.ts'
import type { CallServices } from '../calls/call-services.ts'
import type { ReplyCache } from './reply-cache.ts'

/** One user's access to the platform, for one connection (stdio) or one request (HTTP). */
export interface Session {
  readonly client: Client
  /** What was read with this key before, by this or another session of it. */
  readonly cache: ReplyCache
  readonly callServices: CallServices
  /** Which platform this is: its address, or that it is the sandbox in this process. */
  readonly platform: string
  /** Who this is, without saying it: a hash of the API key. Never written down. */
  readonly owner: string
  readonly isSandbox: boolean
  /** Where the API key was taken from, in words for a person. */
  readonly keySource: string
  /** The account that the operator has pinned: all tools act on it. */
  readonly pinnedAccount: string | undefined
  /**
   * Takes the key out of what a client sent, before it is repeated. Replies of the platform do not
   * hold it: they were looked through as they came.
   */
  readonly redact: (text: string) => string
}
