/**
 * Small records that are kept for a while under an id: used confirmation tokens, cancelled tasks, lists
 * of calls. A new use is a new kind here; no table and no migration belongs to it.
 *
 * Rules for every implementation: each method is one atomic operation among all processes that share
 * the records, and durable before its promise resolves. A method that rejects may have taken effect.
 * A record is there until its time is over or it is removed, and no longer. Time is that of what the
 * processes share. Ids and owners are not stored in clear.
 */
export interface Records {
  /**
   * Adds a record unless there is one with its id. 'full': there are as many as `bounds` allow; a few
   * more may be added by requests of the same moment.
   */
  add(record: NewRecord, bounds?: RecordBounds): Promise<'added' | 'exists' | 'full'>
  /** Adds a record, or replaces the one with its id; only one that is new can be too many. */
  put(record: NewRecord, bounds?: RecordBounds): Promise<'kept' | 'full'>
  /** The value of a record; `undefined`: there is none. */
  get(key: RecordKey): Promise<string | undefined>
  /** Removes a record. True for one caller only, if there was one. */
  remove(key: RecordKey): Promise<boolean>
}

export type RecordKind = 'used_token' | 'cancelled_task' | 'call_batch' | OauthRecordKind

/** What the authorization server keeps (src/oauth/state-adapter.ts). */
export type OauthRecordKind =
  | 'oauth_client'
  | 'oauth_interaction'
  | 'oauth_grant'
  | 'oauth_code'
  | 'oauth_access_token'
  | 'oauth_refresh_token'
  | 'oauth_used'
  | 'oauth_replay'
  | 'oauth_key'

export interface RecordKey {
  readonly kind: RecordKind
  readonly id: string
}

export interface NewRecord extends RecordKey {
  /** Whose it is: the records of each owner are limited. */
  readonly owner: string
  readonly value: string
  /** How long it is kept, ms. */
  readonly forMs: number
}

/** The most records of a kind, in all and of one owner. */
export interface RecordBounds {
  readonly inAll: number
  readonly perOwner: number
}
