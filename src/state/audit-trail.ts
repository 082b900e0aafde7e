import * as z from 'zod'

/** A request to the platform that may change something. */
const AuditedWrite = z.looseObject({
  /** Route id, such as `agents.update`. */
  operation: z.string(),
  account_id: z.string().optional(),
  /** Path ids, such as `agent_id`. */
  ids: z.record(z.string(), z.string()).optional(),
  /** Called number, shortened unless the operator wants it in full. */
  to_number: z.string().optional(),
  /** External id under which the platform lists the call. */
  external_id: z.string().optional(),
  /** Id of the created object, such as the call. */
  made_id: z.string().optional(),
  /** `done`, `failed` (nothing was changed), `unknown`; `sent`: no answer was recorded. */
  outcome: z.string(),
  /** HTTP status of the platform's reply, if any. */
  status: z.number().optional(),
  request_id: z.string().optional(),
  /** Number of sends, if more than one. */
  times: z.number().optional(),
})

/**
 * A requested change or call: caller, action, confirmation and outcome. Stored and shown in this
 * form. Fields and values of later versions are kept.
 */
export const AuditEntry = z.looseObject({
  id: z.string(),
  /** Start, ISO 8601. */
  time: z.string(),
  /** Address of the platform, or `sandbox`. */
  platform: z.string(),
  tool: z.string(),
  /** `done`, `partly`, `refused`, `failed`, `unknown`; `begun` until the end. */
  outcome: z.string(),
  /** Reason of a failure: a code of docs/errors.md, or a word about the confirmation. */
  reason: z.string().optional(),
  /** Prefix of the API key's hash. */
  key: z.string(),
  client: z
    .object({ name: z.string().optional(), version: z.string().optional() })
    .catchall(z.unknown())
    .optional(),
  /** OAuth client id of the request's access token. */
  oauth_client: z.string().optional(),
  /** `stdio`, `http`, or `terminal` for the command line. */
  transport: z.string(),
  /** Network of an HTTP request with its own key. */
  network: z.string().optional(),
  /** The account, if known. */
  account_id: z.string().optional(),
  /** Kind of confirmation, see docs/security.md. */
  confirmation: z.string(),
  /** The client's arguments, redacted. */
  arguments: z.unknown(),
  writes: z.array(AuditedWrite),
  /** Outcome of each item of a bulk call, as in the result. */
  targets: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        to_number: z.string().optional(),
        outcome: z.string(),
      }),
    )
    .optional(),
  /** The request that failed before any change was sent, if one did. */
  failed_request: z
    .looseObject({
      operation: z.string(),
      status: z.number().optional(),
      request_id: z.string().optional(),
    })
    .optional(),
  /** Number of further writes, not listed. */
  writes_left_out: z.number().optional(),
  duration_ms: z.number().optional(),
})
export type AuditEntry = z.output<typeof AuditEntry>

/**
 * A call about to be sent, as a line of its own for append-only sinks: even a killed process leaves
 * a trace of every person it called.
 */
export interface AuditedCallSent extends Omit<z.output<typeof AuditedWrite>, 'outcome'> {
  readonly id: string
  /** Time of sending, ISO 8601. */
  readonly time: string
  /** Id of the entry. */
  readonly entry: string
  readonly platform: string
  readonly tool: string
  readonly key: string
  readonly outcome: 'sent'
}

/** Filters of entries, combined with AND. Times are ms since 1970. */
export interface AuditQuery {
  /** Inclusive. */
  readonly since?: number | undefined
  /** Exclusive. */
  readonly until?: number | undefined
  readonly tool?: string | undefined
  readonly outcome?: string | undefined
  /** Prefix of the key's hash. */
  readonly key?: string | undefined
  /** Cursor: the last entry of the previous page; only older ones are listed. */
  readonly before?: Pick<AuditEntry, 'id' | 'time'> | undefined
  readonly limit: number
}

/**
 * The audit trail of all servers that share a state. When a method's promise resolves, all servers
 * see what it changed. All methods throw StateError.
 *
 * A saved entry survives the end of a process. PostgreSQL also has it on disk by then; in a file a
 * power cut may lose the last entries, because waiting for the disk would slow down every change.
 */
export interface AuditTrail {
  /**
   * Adds or replaces an entry by id. A `begun` entry never replaces an ended one: concurrent saves
   * may arrive out of order.
   */
  save(entry: AuditEntry): Promise<void>
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>
  /** Deletes up to `max` entries that began before a time, the oldest first; returns how many. */
  prune(before: number, max: number): Promise<number>
}

export const parseAuditEntry = (text: string): AuditEntry => AuditEntry.parse(JSON.parse(text))
