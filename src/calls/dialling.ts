import type { DialPolicy } from '../policy/dial-policy.ts'
import type { Journal } from '../state/journal.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { Timing } from './find-out.ts'
import type { Follower } from './follow.ts'
import type { Unsettled } from './unsettled.ts'

/** What one server process dials with: shared by all its sessions. */
export interface Dialling {
  /** Opened with the first call. Throws JournalError. */
  readonly journal: () => Promise<Journal>
  readonly policy: DialPolicy
  readonly follower: Follower
  /** Where calls at once are limited: which calls are under way. */
  readonly underWay: CallsUnderWay | undefined
  readonly timing?: Timing
  readonly unsettled: Unsettled
}
