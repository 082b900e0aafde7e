/**
 * Small expiring records by id: used confirmation tokens, cancelled tasks, lists of calls. A new
 * use needs a new kind here, but no table of its own.
 *
 * Rules for every implementation: each method is one atomic operation among all processes that
 * share the records, and durable before its promise resolves. A method that rejects may have taken
 * effect. A record exists exactly until it is removed, or until it expires by the clock that the
 * processes share. Ids and owners are not stored in clear. No method slows down with the number of
 * records, because each insert and delete also updates the counts.
 */
export interface Records {
  /**
   * Adds a record unless its id exists. 'full': the bounds are reached. Concurrent requests may
   * exceed the bounds by a few records.
   */
  add(record: NewRecord, bounds?: RecordBounds): Promise<'added' | 'exists' | 'full'>
  /** Adds or replaces a record. Replacing a record is never refused as 'full'. */
  put(record: NewRecord, bounds?: RecordBounds): Promise<'kept' | 'full'>
  /**
   * Compare and swap: sets a new value and expiry if the value is still `from`. Keeps the owner.
   * Returns false if the value differs or there is no record.
   */
  replace(record: Omit<NewRecord, 'owner'>, from: string): Promise<boolean>
  /** `undefined` if there is no such record. */
  get(key: RecordKey): Promise<string | undefined>
  /**
   * Removes a record. Of concurrent callers, exactly one gets true. Returns false if there was no
   * record.
   */
  remove(key: RecordKey): Promise<boolean>
}

export type RecordKind = 'used_token' | 'cancelled_task' | 'call_batch' | OauthRecordKind

/**
 * Records of the authorization server (src/oauth: state-adapter.ts, platform-keys.ts, tokens.ts).
 */
export type OauthRecordKind =
  | 'oauth_client'
  | 'oauth_allowed_client'
  | 'oauth_interaction'
  | 'oauth_grant'
  | 'oauth_code'
  | 'oauth_refresh_token'
  | 'oauth_used'
  | 'oauth_replay'
  | 'oauth_key'

export interface RecordKey {
  readonly kind: RecordKind
  readonly id: string
}

export interface NewRecord extends RecordKey {
  /** Owner of the record. The number of records per owner is bounded. */
  readonly owner: string
  readonly value: string
  /** Time to live, ms. */
  readonly forMs: number
}

/** Maximum number of records of a kind, in total and per owner. */
export interface RecordBounds {
  readonly inAll: number
  readonly perOwner: number
}
