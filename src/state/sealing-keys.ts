import { hkdfSync } from 'node:crypto'

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
