import { randomBytes, randomUUID } from 'node:crypto'
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'
import { Refused } from './refused.ts'

/** What is sealed: which call was asked about, by a hash, and which asking it was. */
export interface Sealed {
  /** Hash of tool, arguments, account and key. */
  readonly call: string
  /** Hash of what of it was asked for. */
  readonly scope: string
  readonly nonce: string
}

/** Seals of one kind: each is good for a time, and taken once. */
export interface Seals {
  seal(what: Omit<Sealed, 'nonce'>, context: ServerContext): Promise<string>
  /** Opens a seal of this process that has not expired; throws for any other. */
  open(sealed: string, context: ServerContext): Promise<Sealed>
  isUsed(sealed: Sealed): boolean
  /**
   * Uses it; false when it was used before. Throws Refused where no more uses can be remembered: in
   * all, or of this owner.
   */
  use(sealed: Sealed, owner: string): boolean
  giveBack(sealed: Sealed): void
}

/**
 * Uses that are remembered at most, some 15 MB: each for as long as its seal is good. What is more
 * is refused, because a use that is forgotten would make its seal good again.
 */
const mostUsed = { inAll: 100_000, perOwner: 25_000 }

/** Seals with a key of their own: what one kind has sealed no other kind opens. */
export function createSeals(goodForSeconds: number, most = mostUsed): Seals {
  const codec = createRequestStateCodec<Sealed>({
    key: randomBytes(32),
    ttlSeconds: goodForSeconds,
  })
  // In the order in which they expire.
  const used = new Map<string, { until: number; owner: string }>()
  const usedBy = new Map<string, number>()
  const forget = (nonce: string) => {
    const { owner } = used.get(nonce) ?? {}
    if (owner === undefined) return
    used.delete(nonce)
    const left = (usedBy.get(owner) ?? 0) - 1
    if (left > 0) usedBy.set(owner, left)
    else usedBy.delete(owner)
  }
  const forgetExpired = () => {
    const now = Date.now()
    for (const [nonce, { until }] of used) {
      if (until > now) break
      forget(nonce)
    }
  }
  return {
    seal: (what, context) => codec.mint({ ...what, nonce: randomUUID() }, context),
    open: (sealed, context) => codec.verify(sealed, context),
    isUsed: ({ nonce }) => used.has(nonce),
    use({ nonce }, owner) {
      forgetExpired()
      if (used.has(nonce)) return false
      const own = usedBy.get(owner) ?? 0
      if (used.size >= most.inAll || own >= most.perOwner) throw tooMany()
      // A seal may be opened in the very second in which it expires.
      used.set(nonce, { until: Date.now() + (goodForSeconds + 1) * 1000, owner })
      usedBy.set(owner, own + 1)
      return true
    },
    giveBack: ({ nonce }) => forget(nonce),
  }
}

const tooMany = () =>
  new Refused('not_allowed', 'too many confirmed actions within a few minutes; nothing was done', {
    next: 'Try again in some minutes.',
  })
