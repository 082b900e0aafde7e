import { hash } from 'node:crypto'
import type { CallServices } from '../../calls/placement.ts'
import type { UndoLog } from '../../state/undo-log.ts'
import type { Client } from '../client.ts'
import type { Redact } from '../key-redaction.ts'
import type { ReplyCache } from './reply-cache.ts'

/** One user's access to the platform. Over HTTP, requests with the same credential share it. */
export interface Session {
  readonly client: Client
  /** Earlier replies for this API key, shared by the key's sessions. */
  readonly cache: ReplyCache
  readonly callServices: CallServices
  /** `undefined`: the operator wants no earlier values to be stored. */
  readonly undoLog: UndoLog | undefined
  /** Identifies the platform: its origin and base path, or `sandbox`. */
  readonly platform: string
  /** Hash of the API key. Identifies the user. The log and the audit trail show its beginning. */
  readonly keyHash: string
  readonly isSandbox: boolean
  /** Network of the client that sent the API key, if known. */
  readonly clientNetwork?: string | undefined
  /** OAuth client of the access token that stands for the API key. */
  readonly oauthClient?: string | undefined
  /** Where the API key came from, in words for a person. */
  readonly keySource: string
  /** Account that the operator pinned. All tools act on it. */
  readonly pinnedAccount: string | undefined
  /**
   * Removes the API key from a client's text before the text is repeated. Replies of the platform
   * are already redacted.
   */
  readonly redact: Redact
}

/** Hash of an API key, for every place where the API key itself must not appear. */
export const keyHashOf = (apiKey: string): string => hash('sha256', apiKey, 'base64url')
