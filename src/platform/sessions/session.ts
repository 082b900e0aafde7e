import type { CallServices } from '../../calls/placement.ts'
import type { UndoLog } from '../../state/undo-log.ts'
import type { Client } from '../client.ts'
import type { Redact } from '../key-redaction.ts'
import type { ReplyCache } from './reply-cache.ts'

/** One user's access to the platform, for one connection (stdio) or one request (HTTP). */
export interface Session {
  readonly client: Client
  /** Earlier replies for this key, shared by its sessions. */
  readonly cache: ReplyCache
  readonly callServices: CallServices
  /** `undefined`: the operator wants no earlier values to be kept. */
  readonly undoLog: UndoLog | undefined
  /** Identifies the platform: its origin and base path, or `sandbox`. */
  readonly platform: string
  /** Hash of the API key; identifies the user. Never stored. */
  readonly keyHash: string
  readonly isSandbox: boolean
  /** Network of the client that sent the key, if known. */
  readonly clientNetwork?: string | undefined
  /** OAuth client of the access token that stands for the key. */
  readonly oauthClient?: string | undefined
  /** Source of the API key in words for a person. */
  readonly keySource: string
  /** The account pinned by the operator: all tools act on it. */
  readonly pinnedAccount: string | undefined
  /**
   * Redacts the key in a client's text before it is repeated. The platform's replies are redacted
   * already.
   */
  readonly redact: Redact
}
