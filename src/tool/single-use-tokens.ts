import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { RecordBounds, Records } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing.ts'
import { canonicalJson } from '../text/json.ts'
import { Refused } from './refused.ts'

/** A token made by a server that has the secret. It may have expired. */
export interface SingleUseToken {
  /**
   * Unique per token. Only the tokens of one decision share a nonce: using one uses up all of them.
   */
  readonly nonce: string
  /** Expiry, seconds since 1970. */
  readonly exp: number
  /** True if `mint` was called with this value at this index. */
  isFor(index: number, value: unknown): boolean
}

/**
 * Tokens of one purpose. Each expires, and works once across all servers with the same secret. A
 * token is bound to values but does not store them: the server that checks it computes them again.
 * Methods throw StateError if the state store is unavailable.
 */
export interface SingleUseTokens {
  /** Creates a token bound to these values: 60 characters for one value, 82 for two. */
  mint(...values: readonly unknown[]): Promise<string>
  /** Creates a token of a decision that has other tokens too, all with this nonce. */
  mintFor(nonce: string, ...values: readonly unknown[]): Promise<string>
  /**
   * `undefined` if the token is made up, altered, for another purpose, or made with another secret.
   */
  read(text: string): Promise<SingleUseToken | undefined>
  isUsed(token: SingleUseToken): Promise<boolean>
  /**
   * Marks a token as used. Returns false if it was used before or has expired. Throws Refused if no
   * more uses can be stored, in total or for this API key.
   */
  use(token: SingleUseToken, keyHash: string): Promise<boolean>
  /** Makes a used token valid again, after an action that was certainly not done. */
  giveBack(token: SingleUseToken): Promise<void>
}

/** Storage shared by the servers that accept each other's tokens. */
export interface TokenStore {
  readonly usedTokens: UsedTokens
  readonly sealingKeys: SealingKeys
}

/*
 * Format of a token. It is short, because a model repeats it. Its bytes are the head (expiry as
 * seconds since 1970, then the nonce), an authenticator of the head, and for each value an
 * authenticator of the head with that value.
 */
const expiryBytes = 4
const nonceBytes = 9
const headBytes = expiryBytes + nonceBytes
/** Half of HMAC-SHA-256, the minimum that RFC 2104 recommends. */
const authenticatorBytes = 16

export const newNonce = (): string => randomBytes(nonceBytes).toString('base64url')

/**
 * Creates the tokens of a purpose. Each purpose has its own secret keys, so no other purpose
 * accepts its tokens. `keptSeconds`: the longest lifetime of the tokens that share a nonce.
 */
export function createSingleUseTokens(
  purpose: string,
  ttlSeconds: number,
  { usedTokens, sealingKeys }: TokenStore,
  keptSeconds = ttlSeconds,
): SingleUseTokens {
  const mintFor: SingleUseTokens['mintFor'] = async (nonce, ...values) => {
    const [key] = await sealingKeys.of(purpose)
    const head = Buffer.concat([Buffer.alloc(expiryBytes), Buffer.from(nonce, 'base64url')])
    head.writeUInt32BE(Math.floor(Date.now() / 1000) + ttlSeconds)
    const authenticators = [
      authenticator(key, head, { values: values.length }),
      ...values.map((value, index) => authenticator(key, head, { index, value })),
    ]
    return Buffer.concat([head, ...authenticators]).toString('base64url')
  }
  return {
    mint: (...values) => mintFor(newNonce(), ...values),
    mintFor,
    async read(text) {
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.toString('base64url') !== text) return undefined
      const head = bytes.subarray(0, headBytes)
      const authenticators = bytes.subarray(headBytes)
      const isAt = (position: number, expected: Uint8Array) => {
        const start = position * authenticatorBytes
        const given = authenticators.subarray(start, start + authenticatorBytes)
        return given.length === authenticatorBytes && timingSafeEqual(given, expected)
      }
      const values = authenticators.length / authenticatorBytes - 1
      const keys = await sealingKeys.of(purpose)
      const key = keys.find((key) => isAt(0, authenticator(key, head, { values })))
      if (!key) return undefined
      return {
        nonce: head.subarray(expiryBytes).toString('base64url'),
        exp: head.readUInt32BE(),
        isFor: (index, value) => isAt(index + 1, authenticator(key, head, { index, value })),
      }
    },
    isUsed: ({ nonce }) => usedTokens.isUsed(nonce),
    async use({ nonce, exp }, keyHash) {
      const times = { expiresAt: exp * 1000, validMs: keptSeconds * 1000 }
      const used = await usedTokens.use({ nonce, owner: keyHash, ...times })
      if (used === 'full') throw tooMany()
      return used === 'used now'
    },
    giveBack: ({ nonce }) => usedTokens.giveBack(nonce),
  }
}

/** Authenticates the head with the number of values, so that no value can be added or removed. */
const authenticator = (
  key: Uint8Array,
  head: Uint8Array,
  bound: { readonly values: number } | { readonly index: number; readonly value: unknown },
): Uint8Array =>
  createHmac('sha256', key)
    .update(head)
    .update(canonicalJson(bound))
    .digest()
    .subarray(0, authenticatorBytes)

/** Uses are deleted when their tokens expire, so further uses can soon be stored. */
const fullRetrySeconds = 60

const tooMany = () =>
  new Refused('not_allowed', 'too many confirmed actions within a few minutes; nothing was done', {
    next: `Try again in ${fullRetrySeconds} s with the same arguments.`,
    retryable: true,
    facts: { retryAfter: fullRetrySeconds },
  })

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
