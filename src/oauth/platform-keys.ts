import * as z from 'zod'
import { holdsLocalToken, holdsOauthToken, isApiKey } from '../platform/sessions/credential.ts'
import { RateLimits, spend } from '../server/transports/quotas.ts'
import type { Records } from '../state/records.ts'
import { createSealer, type SealingKeys } from '../state/sealing.ts'
import { StateError } from '../state/state-access.ts'
import type { KeyProblem } from './pages/models.ts'

/** A platform key and its account. */
export interface KeptKey {
  readonly apiKey: string
  readonly account: { readonly id: string; readonly name: string | undefined }
}

/**
 * Platform keys that people have entered: one for each pending authorization request and one for
 * each grant, shared by all servers of the state. A grant's tokens are valid only while it has its
 * key: removing the key revokes them on all servers at once. Methods throw StateError.
 */
export type KeptKeys = ReturnType<typeof createKeptKeys>

/** Owner of a stored key: a pending authorization request or a grant. */
interface KeyName {
  readonly of: 'interaction' | 'grant'
  readonly id: string
}

const StoredKey = z.object({ sealed: z.string(), expires: z.number() })
const Content = z.object({
  apiKey: z.string(),
  account: z.object({ id: z.string(), name: z.string().optional() }),
})

const kind = 'oauth_key'
const idOf = ({ of, id }: KeyName) => `${of} ${id}`

/**
 * Maximum stored keys: in total, about 100 MB and more grants than one server serves, and per
 * account, so that one account cannot use up the total.
 */
const max = { inAll: 200_000, perOwner: 10_000 }

/** `audience`: resource of the grants. A key opens only for its audience and before its expiry. */
export function createKeptKeys({
  records,
  sealingKeys,
  audience,
}: {
  readonly records: Records
  readonly sealingKeys: SealingKeys
  readonly audience: string
}) {
  const sealer = createSealer(sealingKeys, 'platform keys of oauth grants')
  return {
    /** Stores the key under a name, replacing an earlier one; it expires after `forMs`. */
    async keep(name: KeyName, key: KeptKey, forMs: number): Promise<void> {
      const expires = Date.now() + forMs
      const sealed = await sealer.seal(JSON.stringify(key), [idOf(name), audience, expires])
      const value = JSON.stringify({ sealed, expires })
      const owner = `account ${key.account.id}`
      const record = { kind, id: idOf(name), owner, value, forMs } as const
      if ((await records.put(record, max)) === 'full')
        throw new StateError('No more clients can be connected: the state holds too many grants.')
    },
    /**
     * Returns `undefined` if the key is absent, expired, or sealed with a secret that this server
     * no longer has.
     */
    async find(name: KeyName): Promise<KeptKey | undefined> {
      const value = await records.get({ kind, id: idOf(name) })
      if (value === undefined) return undefined
      const { sealed, expires } = StoredKey.parse(JSON.parse(value))
      if (expires <= Date.now()) return undefined
      const content = await sealer.open(sealed, [idOf(name), audience, expires])
      if (content === undefined) return undefined
      const { apiKey, account } = Content.parse(JSON.parse(content))
      return { apiKey, account: { id: account.id, name: account.name } }
    },
    has: async (name: KeyName) => (await records.get({ kind, id: idOf(name) })) !== undefined,
    remove: async (name: KeyName) => void (await records.remove({ kind, id: idOf(name) })),
  }
}

/** The account of a key, or why there is none. */
export type KeyFinding =
  | { readonly ok: true; readonly account: KeptKey['account'] }
  | { readonly ok: false; readonly reason: 'wrong' | 'no_access' | 'unreachable' }

/** Asks the platform for the account of a key. Never rejects. */
export type AskPlatform = (apiKey: string, network: string) => Promise<KeyFinding>

/** Checks an entered key with the platform, rate-limited. */
export type TryKey = (
  text: string,
  attempt: { readonly network: string; readonly interactionId: string },
) => Promise<{ readonly key: KeptKey } | { readonly problem: KeyProblem }>

/**
 * Tried keys per minute and process. A person who mistypes stays below; a program that guesses does
 * not.
 */
const maxTries = { perInteraction: 10, perNetwork: 60, inAll: 600 }

export function createKeyCheck(ask: AskPlatform): TryKey {
  const perInteraction = new RateLimits(maxTries.perInteraction)
  const perNetwork = new RateLimits(maxTries.perNetwork)
  const inAll = new RateLimits(maxTries.inAll)
  return async (text, { interactionId, network }) => {
    if (text === '') return { problem: { kind: 'missing' } }
    // A token of this server must not be sent to the platform.
    if (!isApiKey(text) || holdsLocalToken(text) || holdsOauthToken(text))
      return { problem: { kind: 'malformed' } }
    const waitMs = spend([perInteraction, interactionId], [perNetwork, network], [inAll, ''])
    if (waitMs > 0)
      return { problem: { kind: 'too_many', retryAfterSeconds: Math.ceil(waitMs / 1000) } }
    const finding = await ask(text, network)
    return finding.ok
      ? { key: { apiKey: text, account: finding.account } }
      : { problem: { kind: finding.reason } }
  }
}
