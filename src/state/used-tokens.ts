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
  /** Uses a token. 'full': no more uses can be remembered, in all or of this owner. */
  use(use: TokenUse): Promise<'used now' | 'used before' | 'full'>
  isUsed(nonce: string): Promise<boolean>
  /** The token can be used again. */
  giveBack(nonce: string): Promise<void>
}

export interface TokenUse {
  readonly nonce: string
  /** Whose call it is: the uses of each owner are limited. */
  readonly owner: string
  /** When the token expires, ms since 1970. */
  readonly expires: number
}
