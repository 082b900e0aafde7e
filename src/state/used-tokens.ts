import type { RecordBounds, Records } from './records.ts'

/**
 * Used confirmation tokens. The token of a preview and the question to a person each have a nonce,
 * which is valid for one action until it expires.
 *
 * Protocol: `use` before the action. It is one atomic operation, so only one of several requests
 * with the same token gets 'used now'. Only that request may run `giveBack`, and only if the action
 * was certainly not done. A use is kept until the token expires: an implementation refuses with
 * 'full' rather than forget it earlier. A method that rejects may have taken effect; the action is
 * then not done.
 */
export interface UsedTokens {
  /**
   * Marks a token as used. 'expired': the token had expired by this server's clock, before or after
   * the use was recorded. 'full': no more uses can be recorded, in total or for this owner.
   */
  use(use: TokenUse): Promise<'used now' | 'used before' | 'expired' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** Makes a used token valid again. */
  giveBack(nonce: string): Promise<void>
}

interface TokenUse {
  readonly nonce: string
  /** Owner of the tool call. The number of uses per owner is bounded. */
  readonly owner: string
  /** Expiry of the token, ms since 1970. */
  readonly expiresAt: number
  /** Validity of a new token, ms. */
  readonly validMs: number
}

/** Maximum number of stored uses. They take about 15 MB. */
const useBounds: RecordBounds = { inAll: 100_000, perOwner: 25_000 }

/**
 * Maximum difference between the clocks of servers, ms. The clock of the server that checks a token
 * may be behind that of the issuing server, so a use is remembered for this much longer.
 */
const clockDoubtMs = 60_000

const usedToken = 'used_token'

/** Used tokens in the shared records. */
export const createUsedTokens = (records: Records, bounds = useBounds): UsedTokens => ({
  async use({ nonce, owner, expiresAt, validMs }) {
    const leftMs = expiresAt - Date.now()
    // If a token is valid for longer than a new one, the clock was set back after it was issued. The
    // record of its use may already be deleted, so the token could be used twice.
    if (!(leftMs > 0 && leftMs <= validMs + clockDoubtMs)) return 'expired'
    const forMs = Math.max(leftMs, validMs) + clockDoubtMs
    const answer = await records.add(
      { kind: usedToken, id: nonce, owner, value: '', forMs },
      bounds,
    )
    if (answer === 'full') return 'full'
    if (answer === 'exists') return 'used before'
    // Checked once more: if the clock was set forward meanwhile, an earlier use may have been
    // forgotten.
    return Date.now() < expiresAt ? 'used now' : 'expired'
  },
  isUsed: async (nonce) => (await records.get({ kind: usedToken, id: nonce })) !== undefined,
  giveBack: async (nonce) => void (await records.remove({ kind: usedToken, id: nonce })),
})
