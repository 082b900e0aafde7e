import { randomBytes, randomUUID } from 'node:crypto'
import { createRequestStateCodec, type ServerContext } from '@modelcontextprotocol/server'
import type { UsedTokens } from '../../state/used-tokens.ts'
import { Refused } from './refused.ts'

/** What a token states: which call it is for. */
export interface TokenContent {
  /** Hash of tool, arguments, account and key. */
  readonly call: string
  /** Hash of what exactly is agreed to. */
  readonly scope: string
  /** Different in each token. */
  readonly nonce: string
}

/** Signed tokens of one purpose: each expires, and can be used once. */
export interface SingleUseTokens {
  mint(content: Omit<TokenContent, 'nonce'>, context: ServerContext): Promise<string>
  /** Reads a token of this process that has not expired; throws for any other. */
  verify(token: string, context: ServerContext): Promise<TokenContent>
  isUsed(content: TokenContent): Promise<boolean>
  /**
   * Marks it as used; false when it was used before. Throws Refused where no more uses can be
   * remembered, in all or for this owner.
   */
  use(content: TokenContent, owner: string): Promise<boolean>
  /** Makes it usable again: what it was used for was certainly not done. */
  giveBack(content: TokenContent): Promise<void>
}

/** Tokens of one purpose have a signing key of their own: no other purpose accepts them. */
export function createSingleUseTokens(ttlSeconds: number, usedTokens: UsedTokens): SingleUseTokens {
  const codec = createRequestStateCodec<TokenContent>({ key: randomBytes(32), ttlSeconds })
  return {
    mint: (content, context) => codec.mint({ ...content, nonce: randomUUID() }, context),
    verify: (token, context) => codec.verify(token, context),
    isUsed: ({ nonce }) => usedTokens.isUsed(nonce),
    async use({ nonce }, owner) {
      // One second more: a token can be verified in the second in which it expires.
      const expires = Date.now() + (ttlSeconds + 1) * 1000
      const used = await usedTokens.use({ nonce, owner, expires })
      if (used === 'full') throw tooMany()
      return used === 'used now'
    },
    giveBack: ({ nonce }) => usedTokens.giveBack(nonce),
  }
}

const tooMany = () =>
  new Refused('not_allowed', 'too many confirmed actions within a few minutes; nothing was done', {
    next: 'Try again in a few minutes.',
  })
