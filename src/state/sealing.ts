import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * Secret keys that seal values which clients return later, such as confirmation tokens. Servers
 * with the same secrets accept each other's values.
 */
export interface SealingKeys {
  /**
   * Secret keys of one purpose, 32 bytes each. No purpose accepts the values of another. The first
   * key seals, and every key opens. Throws StateError.
   */
  of(purpose: string): Promise<readonly [Uint8Array, ...Uint8Array[]]>
}

/** Secrets. The first seals, and every secret opens. */
export type Secrets = readonly [string, ...string[]]

/** Keys derived from secrets (HKDF, RFC 5869). `read` runs on demand. */
export const sealingKeysFrom = (read: () => Promise<Secrets>): SealingKeys => ({
  async of(purpose) {
    const [first, ...others] = await read()
    return [keyOf(first, purpose), ...others.map((secret) => keyOf(secret, purpose))]
  },
})

const keyOf = (secret: string, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', secret, '', `voice-agent-mcp ${purpose}`, 32))

/**
 * Encrypts stored values with AES-256-GCM. Methods throw StateError if the keys are unavailable.
 */
interface Sealer {
  /** Encrypts a text. `context` is authenticated but not stored: `open` needs the same context. */
  seal(text: string, context: readonly unknown[]): Promise<string>
  /**
   * Decrypts a text; `undefined` if it was sealed with another key or context, or changed since.
   */
  open(sealed: string, context: readonly unknown[]): Promise<string | undefined>
}

const ivBytes = 12
const tagBytes = 16

/**
 * Encrypts the values of one purpose, which has its own keys. The newest secret seals, and every
 * secret opens.
 */
export const createSealer = (keys: SealingKeys, purpose: string): Sealer => ({
  async seal(text, context) {
    const [key] = await keys.of(purpose)
    // Random for each text, so that no IV is used twice with one key (NIST SP 800-38D §8.2.2).
    const iv = randomBytes(ivBytes)
    const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(boundTo(context))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64url')
  },
  async open(sealed, context) {
    const bytes = Buffer.from(sealed, 'base64url')
    if (bytes.length < ivBytes + tagBytes) return undefined
    for (const key of await keys.of(purpose)) {
      const text = openedWith(key, bytes, context)
      if (text !== undefined) return text
    }
    return undefined
  },
})

function openedWith(
  key: Uint8Array,
  bytes: Buffer,
  context: readonly unknown[],
): string | undefined {
  const iv = bytes.subarray(0, ivBytes)
  const tag = bytes.subarray(ivBytes, ivBytes + tagBytes)
  const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
  decipher.setAAD(boundTo(context)).setAuthTag(tag)
  try {
    return (
      decipher.update(bytes.subarray(ivBytes + tagBytes), undefined, 'utf8') +
      decipher.final('utf8')
    )
  } catch {
    // GCM fails in the same way for another key, another context and a changed text.
    return undefined
  }
}

const boundTo = (context: readonly unknown[]) => Buffer.from(JSON.stringify(context))
