import { randomBytes, randomUUID } from 'node:crypto'
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'
import type { UsedSeals } from '../../state/used-seals.ts'
import { Refused } from './refused.ts'

/** What is sealed: which call was asked about, by a hash, and which question it was. */
export interface Sealed {
  /** Hash of tool, arguments, account and key. */
  readonly call: string
  /** Hash of what of it was asked for. */
  readonly scope: string
  readonly nonce: string
}

/** Seals of one kind. Each is good for a time, and for one use. */
export interface Seals {
  seal(what: Omit<Sealed, 'nonce'>, context: ServerContext): Promise<string>
  /** Opens a seal of this process that has not expired; throws for any other. */
  open(sealed: string, context: ServerContext): Promise<Sealed>
  isUsed(sealed: Sealed): Promise<boolean>
  /**
   * Uses it; false when it was used before. Throws Refused where no more uses can be remembered: in
   * all, or of this owner.
   */
  use(sealed: Sealed, owner: string): Promise<boolean>
  /** It is good again: what it was used for was certainly not done. */
  giveBack(sealed: Sealed): Promise<void>
}

/** Seals with a key of their own: a seal of one kind is not opened as one of another. */
export function createSeals(goodForSeconds: number, usedSeals: UsedSeals): Seals {
  const codec = createRequestStateCodec<Sealed>({
    key: randomBytes(32),
    ttlSeconds: goodForSeconds,
  })
  return {
    seal: (what, context) => codec.mint({ ...what, nonce: randomUUID() }, context),
    open: (sealed, context) => codec.verify(sealed, context),
    isUsed: ({ nonce }) => usedSeals.isUsed(nonce),
    async use({ nonce }, owner) {
      // A seal may be opened in the very second in which it expires.
      const expires = Date.now() + (goodForSeconds + 1) * 1000
      const used = await usedSeals.use({ nonce, owner, expires })
      if (used === 'full') throw tooMany()
      return used === 'used now'
    },
    giveBack: ({ nonce }) => usedSeals.giveBack(nonce),
  }
}

const tooMany = () =>
  new Refused('not_allowed', 'too many confirmed actions within a few minutes; nothing was done', {
    next: 'Try again in some minutes.',
  })
