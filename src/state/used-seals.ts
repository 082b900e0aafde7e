/**
 * Which confirmations were used. A preview's token and a question to a person are sealed with a nonce,
 * and each is good for one action within its time.
 *
 * Protocol: `use` before the action; it is one atomic operation, so of several requests with the same
 * seal one gets 'used now'. `giveBack` only by the request that got 'used now', and only when the
 * action was certainly not done. What is used stays used until the seal expires: an implementation
 * refuses with 'full' rather than forget a use earlier. A method that rejects may have taken effect:
 * the action is not done then.
 */
export interface UsedSeals {
  /** Uses a seal. 'full': no more uses can be remembered, in all or of this owner. */
  use(use: SealUse): Promise<'used now' | 'used before' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** The seal is good again. */
  giveBack(nonce: string): Promise<void>
}

export interface SealUse {
  readonly nonce: string
  /** Whose call it is: the uses of each owner are limited. */
  readonly owner: string
  /** When the seal is no longer good, ms since 1970. */
  readonly expires: number
}
