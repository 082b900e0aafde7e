import type { AuditTrail } from './audit-trail.ts'
import type { CallCounter } from './call-counter.ts'
import type { Changes } from './changes.ts'
import type { Journal } from './journal.ts'
import type { Records } from './records.ts'

/**
 * Everything that outlives a request, one for a server process. Servers that share it act as one:
 * they place each call once, keep the same limits and accept each confirmation once.
 *
 * What a later feature keeps for a while is a kind of record. What grows without end, such as the audit
 * trail, is a part of its own here, with a table in each implementation.
 */
export interface State {
  /** Opened with the first call. Throws JournalError. */
  journal(): Promise<Journal>
  readonly callCounter: CallCounter
  readonly records: Records
  readonly audit: AuditTrail
  readonly changes: Changes
  /** Throws StateError where it cannot be used now. */
  check(): Promise<void>
  close(): Promise<void>
}
