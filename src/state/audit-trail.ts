import * as z from 'zod'

/** A request to the platform that may change something. */
const AuditedWrite = z.looseObject({
  /** Route id, such as `agents.update`. */
  operation: z.string(),
  account_id: z.string().optional(),
  /** Ids in the request's path, such as `agent_id`. */
  ids: z.record(z.string(), z.string()).optional(),
  /** Called number. Shortened, unless the operator wants it whole. */
  to_number: z.string().optional(),
  /** External id under which the platform lists the call. */
  external_id: z.string().optional(),
  /** Id of the object that the request created, such as the call. */
  made_id: z.string().optional(),
  /** `done`, `failed` (nothing was changed) or `unknown`. `sent`: no answer was recorded. */
  outcome: z.string(),
  /** HTTP status of the platform's reply, if any. */
  status: z.number().optional(),
  request_id: z.string().optional(),
  /** Number of times the request was sent, if more than once. */
  times: z.number().optional(),
})

/**
 * A requested change or call: who asked, what for, who confirmed, and the outcome. Stored and shown
 * in this form. Loose, so that entries of later versions keep their fields and values.
 */
export const AuditEntry = z.looseObject({
  id: z.string(),
  /** Time of the start, ISO 8601. */
  time: z.string(),
  /** Address of the platform, or `sandbox`. */
  platform: z.string(),
  tool: z.string(),
  /** `done`, `unchanged`, `partly`, `refused`, `failed` or `unknown`. `begun`: not ended yet. */
  outcome: z.string(),
  /** Reason of a failure: a code of docs/errors.md, or a word about the confirmation. */
  reason: z.string().optional(),
  /** First characters of the API key's hash. */
  key: z.string(),
  client: z
    .object({ name: z.string().optional(), version: z.string().optional() })
    .catchall(z.unknown())
    .optional(),
  /** OAuth client id of the request's access token. */
  oauth_client: z.string().optional(),
  /** `stdio`, `http`, or `terminal` for the command line. */
  transport: z.string(),
  /** Network of an HTTP request that has its own API key. */
  network: z.string().optional(),
  /** The account, if known. */
  account_id: z.string().optional(),
  /** Kind of confirmation: see docs/observability.md. */
  confirmation: z.string(),
  /** The client's arguments, redacted. */
  arguments: z.unknown(),
  writes: z.array(AuditedWrite),
  /** Outcome of each item of a bulk operation, as in the result. */
  targets: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        to_number: z.string().optional(),
        outcome: z.string(),
      }),
    )
    .optional(),
  /** The request that failed before any change was sent, if there is one. */
  failed_request: z
    .looseObject({
      operation: z.string(),
      status: z.number().optional(),
      request_id: z.string().optional(),
    })
    .optional(),
  /** Number of further writes that are not listed. */
  writes_left_out: z.number().optional(),
  duration_ms: z.number().optional(),
})
export type AuditEntry = z.output<typeof AuditEntry>

/**
 * A phone or web call that is about to be sent. It has a line of its own for append-only sinks, so
 * that even a killed process leaves a trace of every person it called.
 */
export interface SentPhoneCall extends Omit<z.output<typeof AuditedWrite>, 'outcome'> {
  readonly id: string
  /** Time of sending, ISO 8601. */
  readonly time: string
  /** Id of the audit entry. */
  readonly entry: string
  readonly platform: string
  readonly tool: string
  readonly key: string
  readonly outcome: 'sent'
}

/** Filters of entries, combined with AND. Times are ms since 1970. */
export interface AuditQuery {
  /** Start of the range, inclusive. */
  readonly since?: number | undefined
  /** End of the range, exclusive. */
  readonly until?: number | undefined
  readonly tool?: string | undefined
  readonly outcome?: string | undefined
  /** First characters of the API key's hash. */
  readonly key?: string | undefined
  /** Cursor: the last entry of the previous page. Only older entries are listed. */
  readonly before?: Pick<AuditEntry, 'id' | 'time'> | undefined
  readonly limit: number
}

/**
 * The audit trail of all servers that share a state. When a method's promise resolves, all servers
 * see its change. All methods throw StateError.
 *
 * A saved entry survives the end of the process. In PostgreSQL it is then also on disk. In a file,
 * a power cut may lose the last entries, because waiting for the disk would slow down every change.
 */
export interface AuditTrail {
  /**
   * Adds or replaces an entry by id. A `begun` entry never replaces an ended one, because
   * concurrent saves may arrive out of order.
   */
  save(entry: AuditEntry): Promise<void>
  /** Lists entries, newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>
  /**
   * Deletes up to `max` entries that began before a time, oldest first. Returns the number of
   * deleted entries.
   */
  prune(before: number, max: number): Promise<number>
}

/** Stored form of an entry: JSON. */
export const AuditRow = z.object({
  entry: z.string().transform((text) => AuditEntry.parse(JSON.parse(text))),
})
