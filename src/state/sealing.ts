import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

/**
 * The keys with which a server seals what clients bring back later, such as confirmation tokens.
 * Servers with the same secrets accept what each of them has sealed.
 */
export interface SealingKeys {
  /**
   * The keys of one purpose, 32 bytes each: no purpose accepts what another has sealed. The first one
   * seals, all of them open. Throws StateError.
   */
  of(purpose: string): Promise<readonly [Uint8Array, ...Uint8Array[]]>
}

/** Secrets, the newest first. */
export type Secrets = readonly [string, ...string[]]

/** Keys that are derived from secrets (HKDF, RFC 5869), which `read` gets when they are needed. */
export const sealingKeysFrom = (read: () => Promise<Secrets>): SealingKeys => ({
  async of(purpose) {
    const [newest, ...older] = await read()
    return [keyOf(newest, purpose), ...older.map((secret) => keyOf(secret, purpose))]
  },
})

const keyOf = (secret: string, purpose: string) =>
  new Uint8Array(hkdfSync('sha256', secret, '', `voice-agent-mcp ${purpose}`, 32))

/** Encrypts what is stored, with AES-256-GCM. Methods throw StateError where the keys cannot be had. */
interface Sealer {
  /** `context` is not stored: a text opens only with the one that it was sealed with. */
  seal(text: string, context: readonly unknown[]): Promise<string>
  /** `undefined`: it was sealed with another key or for something else, or it was changed. */
  open(sealed: string, context: readonly unknown[]): Promise<string | undefined>
}

const ivBytes = 12
const tagBytes = 16

/** Texts of one purpose have keys of their own. The newest secret seals, all secrets open. */
export const createSealer = (keys: SealingKeys, purpose: string): Sealer => ({
  async seal(text, context) {
    const [key] = await keys.of(purpose)
    // Random for each text, so that it is never used twice with a key (NIST SP 800-38D §8.2.2).
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
    // Another key, another context, or it was changed: GCM does not tell which.
    return undefined
  }
}

const boundTo = (context: readonly unknown[]) => Buffer.from(JSON.stringify(context))
