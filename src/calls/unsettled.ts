import { LRUCache } from 'lru-cache'
import type { Permit } from './placement.ts'

/** More than a platform that fails leaves open within the time that a permit counts. */
const most = 10_000

/**
 * Permits of calls of which nobody knows whether they were placed, in this process: whoever finds
 * that out settles them.
 */
export class Unsettled {
  readonly #permits = new LRUCache<string, Permit>({ max: most })

  add(owner: string, externalId: string, permit: Permit): void {
    this.#permits.set(`${owner} ${externalId}`, permit)
  }

  /** The permit of a call of which it is known by now; the caller settles it. */
  take(owner: string, externalId: string): Permit | undefined {
    const key = `${owner} ${externalId}`
    const permit = this.#permits.get(key)
    this.#permits.delete(key)
    return permit
  }
}
