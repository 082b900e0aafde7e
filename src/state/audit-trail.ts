import * as z from 'zod'

/** One request to the platform that was to change something. */
const AuditedWrite = z.looseObject({
  /** The operation, such as `agents.update`. */
  operation: z.string(),
  account_id: z.string().optional(),
  /** Ids of the path, such as `agent_id`. */
  ids: z.record(z.string(), z.string()).optional(),
  /** Of a call: the number called, shortened unless the operator wants it in full. */
  to_number: z.string().optional(),
  /** Of a call: the id that it was sent with, by which the platform lists it. */
  external_id: z.string().optional(),
  /** Id of what was made, such as the call. */
  made_id: z.string().optional(),
  /** `done`, `failed` (nothing was changed), `unknown`; `sent`: no answer was recorded. */
  outcome: z.string(),
  /** HTTP status of the platform's answer, where there was one. */
  status: z.number().optional(),
  request_id: z.string().optional(),
  /** How often it was sent, where that was more than once. */
  times: z.number().optional(),
})

/**
 * A change or a call that was asked for: who, what, confirmed by whom, and what came of it. It is stored
 * and shown in this form. Fields and words that later versions add are kept.
 */
export const AuditEntry = z.looseObject({
  id: z.string(),
  /** When it began, ISO 8601. */
  time: z.string(),
  /** Address of the platform, or `sandbox`. */
  platform: z.string(),
  tool: z.string(),
  /** `done`, `partly`, `refused`, `failed`, `unknown`; `begun` until it has ended. */
  outcome: z.string(),
  /** Why not, in a word of docs/errors.md or about the confirmation. */
  reason: z.string().optional(),
  /** The beginning of the hash of the API key. */
  key: z.string(),
  client: z
    .object({ name: z.string().optional(), version: z.string().optional() })
    .catchall(z.unknown())
    .optional(),
  /** Id of the OAuth client that the access token of the request was made for. */
  oauth_client: z.string().optional(),
  /** `stdio`, `http`, or `terminal` for the command line. */
  transport: z.string(),
  /** The network that an HTTP request with a key of its own came from. */
  network: z.string().optional(),
  /** The account that it was for, where that is known. */
  account_id: z.string().optional(),
  /** Who agreed: see docs/security.md. */
  confirmation: z.string(),
  /** What the client sent, redacted. */
  arguments: z.unknown(),
  writes: z.array(AuditedWrite),
  /** What came of each, in the words of the result, where the call was for many things. */
  targets: z
    .array(
      z.looseObject({
        id: z.string().optional(),
        to_number: z.string().optional(),
        outcome: z.string(),
      }),
    )
    .optional(),
  /** The request that failed, where that was before anything was sent that changes something. */
  failed_request: z
    .looseObject({
      operation: z.string(),
      status: z.number().optional(),
      request_id: z.string().optional(),
    })
    .optional(),
  /** Further writes, which are only counted. */
  writes_left_out: z.number().optional(),
  duration_ms: z.number().optional(),
})
export type AuditEntry = z.output<typeof AuditEntry>

/**
 * A call that is about to be sent, as a line of its own for sinks whose entries are not written over: a
 * process that dies leaves a trace of every person that it called.
 */
export interface AuditedCallSent extends Omit<z.output<typeof AuditedWrite>, 'outcome'> {
  readonly id: string
  /** When it is sent, ISO 8601. */
  readonly time: string
  /** Id of the entry that it belongs to. */
  readonly entry: string
  readonly platform: string
  readonly tool: string
  readonly key: string
  readonly outcome: 'sent'
}

/** Which entries to list; all conditions hold together. Times are ms since 1970. */
export interface AuditQuery {
  /** Begun at this time or later. */
  readonly since?: number | undefined
  /** Begun before this time. */
  readonly until?: number | undefined
  readonly tool?: string | undefined
  readonly outcome?: string | undefined
  /** The beginning of the key's hash. */
  readonly key?: string | undefined
  /** Only older ones than this entry, which was listed before. */
  readonly before?: Pick<AuditEntry, 'id' | 'time'> | undefined
  readonly limit: number
}

/**
 * The audit trail of all servers that share a state. What each method changed is there for all of them
 * when its promise resolves. All methods throw StateError.
 *
 * An entry that was saved survives the end of a process. Only PostgreSQL also has it on disk by then; in
 * a file a power cut may lose the last ones, because waiting for the disk would slow down every change.
 */
export interface AuditTrail {
  /**
   * Adds an entry, or writes over the one with its id. One that says `begun` does not write over one
   * that has ended: of two that are saved at the same time, the later may be older.
   */
  save(entry: AuditEntry): Promise<void>
  /** Newest first. */
  list(query: AuditQuery): Promise<AuditEntry[]>
  /** Deletes entries that began before a time, so many at most, the oldest first; tells how many. */
  prune(before: number, max: number): Promise<number>
}

export const parseAuditEntry = (text: string): AuditEntry => AuditEntry.parse(JSON.parse(text))
