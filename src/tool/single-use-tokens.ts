import { randomBytes } from 'node:crypto'
import { createRequestStateCodec } from '@modelcontextprotocol/server'
import type { UsedTokens } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing.ts'
import { openOnce } from '../state/state-access.ts'
import { Refused } from './refused.ts'

export interface TokenContent {
  /** Hash of tool, arguments, account and key. */
  readonly call: string
  /** Hash of the agreed scope. */
  readonly scope: string
  /** Different in each token. */
  readonly nonce: string
  /** Expiry, seconds since 1970. */
  readonly exp: number
}

/** Subject of a token, without the generated fields. */
export type TokenSubject = Omit<TokenContent, 'nonce' | 'exp'>

/**
 * Signed tokens of one purpose: each expires, and can be used once across all servers with the
 * keys. Methods throw StateError if the state is unavailable.
 */
export interface SingleUseTokens {
  mint(subject: TokenSubject): Promise<string>
  /** Verifies a token. Throws if it is invalid or has expired. */
  verify(token: string): Promise<TokenContent>
  isUsed(content: TokenContent): Promise<boolean>
  /**
   * Marks a token as used. Returns false if it was used before or has expired. Throws Refused if no
   * more uses can be stored, in total or for this key.
   */
  use(content: TokenContent, keyHash: string): Promise<boolean>
  /** Makes a token usable again, after an action that was certainly not done. */
  giveBack(content: TokenContent): Promise<void>
}

/** Storage shared by the servers that accept each other's tokens. */
export interface TokenStore {
  readonly usedTokens: UsedTokens
  readonly sealingKeys: SealingKeys
}

/** Each purpose has its own signing keys, so no other purpose accepts its tokens. */
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

/** A codec of the SDK without binding to a request context. */
interface Codec {
  mint(content: TokenContent): Promise<string>
  verify(token: string, ...context: never[]): Promise<TokenContent>
}

/** Content of a token signed with one of the keys. Throws if it is invalid. */
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
