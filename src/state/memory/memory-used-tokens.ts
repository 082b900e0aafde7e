import type { TokenUse, UsedTokens } from '../used-tokens.ts'

/** The most uses that are remembered: some 15 MB. */
const maxUsed = { inAll: 100_000, perOwner: 25_000 }

/** Used tokens of this process, which end with it. No method pauses, so each is atomic. */
export function createMemoryUsedTokens(max = maxUsed): UsedTokens {
  const uses = new Uses()
  const isFull = (owner: string) => uses.size >= max.inAll || uses.countOf(owner) >= max.perOwner
  return {
    async use(use) {
      uses.forgetOldest()
      if (uses.has(use.nonce)) return 'used before'
      if (isFull(use.owner)) uses.forgetExpired()
      if (isFull(use.owner)) return 'full'
      uses.add(use)
      return 'used now'
    },
    isUsed: async (nonce) => uses.has(nonce),
    giveBack: async (nonce) => uses.delete(nonce),
  }
}

class Uses {
  readonly #uses = new Map<string, TokenUse>()
  readonly #counts = new Map<string, number>()

  get size(): number {
    return this.#uses.size
  }

  has(nonce: string): boolean {
    return this.#uses.has(nonce)
  }

  countOf(owner: string): number {
    return this.#counts.get(owner) ?? 0
  }

  add(use: TokenUse): void {
    this.#uses.set(use.nonce, use)
    this.#counts.set(use.owner, this.countOf(use.owner) + 1)
  }

  delete(nonce: string): void {
    const use = this.#uses.get(nonce)
    if (!use) return
    this.#uses.delete(nonce)
    const left = this.countOf(use.owner) - 1
    if (left > 0) this.#counts.set(use.owner, left)
    else this.#counts.delete(use.owner)
  }

  /** Forgets from the oldest to the first that has not expired: few at a time. */
  forgetOldest(): void {
    const now = Date.now()
    for (const { nonce, expires } of this.#uses.values()) {
      if (expires > now) return
      this.delete(nonce)
    }
  }

  /** Looks through all: tokens live for different times, so an old one may precede expired ones. */
  forgetExpired(): void {
    const now = Date.now()
    for (const { nonce, expires } of this.#uses.values()) if (expires <= now) this.delete(nonce)
  }
}
