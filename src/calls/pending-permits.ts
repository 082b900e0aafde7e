import { LRUCache } from 'lru-cache'
import type { JournalEntry } from '../state/journal.ts'
import type { Permit } from './placement.ts'

/** More than a failing platform can leave open while a permit counts. */
const maxPermits = 10_000

type CallKey = Pick<JournalEntry, 'owner' | 'externalId'>

const keyOf = ({ owner, externalId }: CallKey) => `${owner} ${externalId}`

/**
 * Permits of calls whose outcome is unknown, in this process. The request that finds the outcome
 * removes the permit and settles it.
 */
export class PendingPermits {
  readonly #permits: LRUCache<string, Permit>

  constructor(max = maxPermits) {
    this.#permits = new LRUCache({ max })
  }

  add(call: CallKey, permit: Permit): void {
    this.#permits.set(keyOf(call), permit)
  }

  /** Gives the permit to one request only. */
  remove(call: CallKey): Permit | undefined {
    const key = keyOf(call)
    const permit = this.#permits.get(key)
    this.#permits.delete(key)
    return permit
  }
}
