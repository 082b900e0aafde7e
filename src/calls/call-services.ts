import type { DialPolicy } from '../policy/dial-policy.ts'
import type { CallBatches } from '../state/call-batches.ts'
import type { Journal } from '../state/journal.ts'
import type { CallFollower } from './call-follower.ts'
import type { CallsUnderWay } from './calls-under-way.ts'
import type { Timing } from './placing-context.ts'

/** What placing and following calls needs; one for a server process, shared by all its sessions. */
export interface CallServices {
  /** Opened with the first call. Throws JournalError. */
  readonly journal: () => Promise<Journal>
  readonly batches: CallBatches
  readonly policy: DialPolicy
  readonly follower: CallFollower
  /** `undefined`: the operator has set no limit of calls at once. */
  readonly underWay: CallsUnderWay | undefined
  readonly timing?: Timing
}
