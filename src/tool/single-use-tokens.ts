import { randomBytes } from 'node:crypto'
import { createRequestStateCodec } from '@modelcontextprotocol/server'
import type { UsedTokens } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing.ts'
import { openOnce } from '../state/state-access.ts'
import { Refused } from './refused.ts'

export interface TokenContent {
  /** Hash of tool, arguments, account and key. */
  readonly call: string
  /** Hash of what exactly is agreed to. */
  readonly scope: string
  /** Different in each token. */
  readonly nonce: string
  /** When it expires, seconds since 1970. */
  readonly exp: number
}

/** What a token is made for; the rest is made with it. */
export type TokenSubject = Omit<TokenContent, 'nonce' | 'exp'>

/**
 * Signed tokens of one purpose: each expires, and can be used once, by whichever server has the keys.
 * Where the state of the servers cannot be used, methods throw StateError.
 */
export interface SingleUseTokens {
  mint(subject: TokenSubject): Promise<string>
  /** Reads a token of these servers that has not expired; throws for any other. */
  verify(token: string): Promise<TokenContent>
  isUsed(content: TokenContent): Promise<boolean>
  /**
   * Marks it as used; false when it was used before or has expired. Throws Refused where no more uses
   * can be remembered, in all or for this key.
   */
  use(content: TokenContent, keyHash: string): Promise<boolean>
  /** Makes it usable again: what it was used for was certainly not done. */
  giveBack(content: TokenContent): Promise<void>
}

/** Storage shared by the servers that accept each other's tokens. */
export interface TokenStore {
  readonly usedTokens: UsedTokens
  readonly sealingKeys: SealingKeys
}

/** Tokens of one purpose have signing keys of their own: no other purpose accepts them. */
export function createSingleUseTokens(
  purpose: string,
  ttlSeconds: number,
  { usedTokens, sealingKeys }: TokenStore,
): SingleUseTokens {
  const codecs = openOnce(async () => {
    const [newest, ...older] = await sealingKeys.of(purpose)
    const codecOf = (key: Uint8Array): Codec =>
      createRequestStateCodec<TokenContent>({ key, ttlSeconds })
    return { newest: codecOf(newest), older: older.map(codecOf) }
  })
  return {
    async mint(subject) {
      const { newest } = await codecs.get()
      const nonce = randomBytes(9).toString('base64url')
      const exp = Math.floor(Date.now() / 1000) + ttlSeconds
      return newest.mint({ ...subject, nonce, exp })
    },
    async verify(token) {
      const { newest, older } = await codecs.get()
      return verifyWithOneOf([newest, ...older], token)
    },
    isUsed: ({ nonce }) => usedTokens.isUsed(nonce),
    async use({ nonce, exp }, keyHash) {
      const times = { expiresAt: exp * 1000, validMs: ttlSeconds * 1000 }
      const used = await usedTokens.use({ nonce, owner: keyHash, ...times })
      if (used === 'full') throw tooMany()
      return used === 'used now'
    },
    giveBack: ({ nonce }) => usedTokens.giveBack(nonce),
  }
}

/** A codec of the SDK that binds tokens to no context of a request, and so needs none. */
interface Codec {
  mint(content: TokenContent): Promise<string>
  verify(token: string, ...context: never[]): Promise<TokenContent>
}

/** The content of a token that was signed with one of the keys; throws what is wrong with it. */
async function verifyWithOneOf(codecs: readonly Codec[], token: string): Promise<TokenContent> {
  const failures: unknown[] = []
  for (const codec of codecs) {
    try {
      return await codec.verify(token)
    } catch (error) {
      failures.push(error)
    }
  }
  // 'mac': signed with another key. Expiry is revealed only if the signature matches.
  const isOfKey = (error: unknown) => error instanceof Error && error.message !== 'mac'
  throw failures.find(isOfKey) ?? failures[0]
}

const tooMany = () =>
  new Refused('not_allowed', 'too many confirmed actions within a few minutes; nothing was done', {
    next: 'Try again in a few minutes.',
  })
