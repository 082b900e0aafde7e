import { LRUCache } from 'lru-cache'
import type { JournalEntry } from '../state/journal.ts'
import type { Permit } from './placement.ts'

/** More than a platform that fails leaves open within the time that a permit counts. */
const most = 10_000

type Placed = Pick<JournalEntry, 'owner' | 'externalId'>

const keyOf = ({ owner, externalId }: Placed) => `${owner} ${externalId}`

/**
 * Permits of calls of which nobody knows whether they were placed, in this process: whoever finds
 * that out settles them.
 */
export class Unsettled {
  readonly #permits = new LRUCache<string, Permit>({ max: most })

  add(entry: Placed, permit: Permit): void {
    this.#permits.set(keyOf(entry), permit)
  }

  /** The permit of a call of which it is known by now; the caller settles it. */
  take(entry: Placed): Permit | undefined {
    const key = keyOf(entry)
    const permit = this.#permits.get(key)
    this.#permits.delete(key)
    return permit
  }
}
