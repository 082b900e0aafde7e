import type { RecordBounds, Records } from './records.ts'

/**
 * Which confirmation tokens were used. A preview's token and a question to a person have a nonce, and
 * each is valid for one action until it expires.
 *
 * Protocol: `use` before the action; it is one atomic operation, so of several requests with the same
 * token one gets 'used now'. `giveBack` only by the request that got 'used now', and only when the
 * action was certainly not done. What is used stays used until the token expires: an implementation
 * refuses with 'full' rather than forget a use earlier. A method that rejects may have taken effect:
 * the action is not done then.
 */
export interface UsedTokens {
  /**
   * Uses a token. 'expired': it is not valid by this server's clock, before or after its use was
   * remembered. 'full': no more uses can be remembered, in all or of this owner.
   */
  use(use: TokenUse): Promise<'used now' | 'used before' | 'expired' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** The token can be used again. */
  giveBack(nonce: string): Promise<void>
}

export interface TokenUse {
  readonly nonce: string
  /** Whose call it is: the uses of each owner are limited. */
  readonly owner: string
  /** When the token expires, ms since 1970. */
  readonly expiresAt: number
  /** How long a token that is made now is valid, ms. */
  readonly validMs: number
}

/** The most uses that are remembered: some 15 MB. */
const mostUses: RecordBounds = { inAll: 100_000, perOwner: 25_000 }

/**
 * How far the clocks of servers may differ, ms. A token is valid by the clock of the server that checks
 * it, and that may be behind the clock of the one that made it: a use is remembered for so much longer.
 */
const clockDoubtMs = 60_000

const kind = 'used_token'

/** The used tokens among the records that servers share. */
export const createUsedTokens = (records: Records, bounds = mostUses): UsedTokens => ({
  async use({ nonce, owner, expiresAt, validMs }) {
    const leftMs = expiresAt - Date.now()
    // A token that seems to be of a later time was made before the clock was set back. A use that was
    // remembered before that may be forgotten while the token would still be valid.
    if (!(leftMs > 0 && leftMs <= validMs + clockDoubtMs)) return 'expired'
    const forMs = Math.max(leftMs, validMs) + clockDoubtMs
    const answer = await records.add({ kind, id: nonce, owner, value: '', forMs }, bounds)
    if (answer === 'full') return 'full'
    if (answer === 'exists') return 'used before'
    // If the clock was set forward meanwhile, an earlier use may have been forgotten.
    return Date.now() < expiresAt ? 'used now' : 'expired'
  },
  isUsed: async (nonce) => (await records.get({ kind, id: nonce })) !== undefined,
  giveBack: async (nonce) => void (await records.remove({ kind, id: nonce })),
})
