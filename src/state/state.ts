import type { AuditTrail } from './audit-trail.ts'
import type { Broadcast } from './broadcast.ts'
import type { CallCounter } from './call-counter.ts'
import type { Journal } from './call-journal.ts'
import type { Records } from './records.ts'
import type { UndoStore } from './undo-log.ts'

/**
 * Everything that outlives a request. One per server process. Servers that share a state act as
 * one: they place each call once, keep the same limits, and accept each confirmation once. Data
 * that expires is a kind of record. Other data, such as the audit trail, is a part of its own, with
 * a table in each implementation. Each part opens on first use.
 */
export interface State {
  readonly journal: Journal
  readonly callCounter: CallCounter
  readonly records: Records
  readonly audit: AuditTrail
  readonly undo: UndoStore
  readonly broadcast: Broadcast
  /** Throws StateError if the state is unusable at the moment. */
  check(): Promise<void>
  close(): Promise<void>
}
