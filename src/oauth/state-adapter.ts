import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import * as z from 'zod'
import type { OauthRecordKind, RecordBounds } from '../state/records.ts'
import { createSealer } from '../state/sealing.ts'
import { StateError } from '../state/state-access.ts'
import { useAssertion } from './client-assertions.ts'
import { clientNetwork } from './endpoints.ts'
import { createTokens, notKept, type TokensOptions } from './tokens.ts'

/*
 * oidc-provider's storage, in the records that servers share. Ids are hashed there, and payloads are
 * sealed here: they hold tokens and client secrets.
 *
 * - A grant's records are valid only while the grant has its key (platform-keys.ts). Removing the key
 *   revokes the grant, including records that a concurrent request is still creating.
 * - A code is used by adding a record, which only one request can do. A second use ends the grant,
 *   and so everything that the first use issued. Tokens: tokens.ts.
 * - Sessions are not stored: no browser is logged in, so a person answers each authorization request
 *   with a key.
 */

/** Stored models of oidc-provider. */
const kinds: Readonly<Record<string, OauthRecordKind | undefined>> = {
  Interaction: 'oauth_interaction',
  Grant: 'oauth_grant',
  AuthorizationCode: 'oauth_code',
  ReplayDetection: 'oauth_replay',
}

/**
 * Maximum records of each kind. Anyone can register a client and request access: for these two
 * kinds the maximum is lower, and one network can take a tenth of it.
 */
const defaultBounds: RecordBounds = { inAll: 200_000, perOwner: 200_000 }
const anonymousBounds: RecordBounds = { inAll: 20_000, perOwner: 2_000 }
const strangers: readonly string[] = ['Client', 'Interaction']

const day = 24 * 3600
/** Lifetime of a registered client that no person has allowed access, s. */
const unusedClientSeconds = day
/** Lifetime of a registered client since a person last allowed it access, s. */
const usedClientSeconds = 400 * day

export type StateAdapterOptions = Omit<TokensOptions, 'endGrant'>

const Payload = z.record(z.string(), z.unknown())

export type StateAdapters = ReturnType<typeof createStateAdapters>

export function createStateAdapters(options: StateAdapterOptions) {
  const { records, keptKeys } = options
  const endGrant = async (id: string) => {
    await keptKeys.remove({ of: 'grant', id })
    await records.remove({ kind: 'oauth_grant', id })
    await records.remove({ kind: 'oauth_refresh_token', id })
  }
  const tokens = createTokens({ ...options, endGrant })
  const ending = { ...options, endGrant }
  const open = keptModel('Client', 'oauth_client', ending)
  const allowed = keptModel('AllowedClient', 'oauth_allowed_client', ending)
  const find = async (id: string) => (await open.find(id)) ?? (await allowed.find(id))
  return {
    of(model: string): Adapter {
      if (model === 'Client') return withOutages({ ...open, find })
      if (model === 'AccessToken') return withOutages(tokens.accessTokens)
      if (model === 'RefreshToken') return withOutages(tokens.refreshTokens)
      const kind = kinds[model]
      return kind ? withOutages(keptModel(model, kind, ending)) : notKept
    },
    tokens,
    /** Extends the lifetime of a client that a person has allowed access. */
    async keepClient(clientId: string) {
      const payload = await find(clientId)
      if (!payload) return
      await allowed.upsert(clientId, payload, usedClientSeconds)
      await open.destroy(clientId)
    },
  }
}

function keptModel(
  model: string,
  kind: OauthRecordKind,
  { records, sealingKeys, keptKeys, endGrant }: TokensOptions,
): Adapter {
  const sealer = createSealer(sealingKeys, 'oauth records')
  const isOfStrangers = strangers.includes(model)
  const bounds = isOfStrangers ? anonymousBounds : defaultBounds
  const use = (id: string) => ({ kind: 'oauth_used', id: `${kind} ${id}` }) as const
  const read = async (id: string): Promise<AdapterPayload | undefined> => {
    const sealed = await records.get({ kind, id })
    const text = sealed && (await sealer.open(sealed, [kind, id]))
    return text ? Payload.parse(JSON.parse(text)) : undefined
  }
  return {
    async upsert(id, payload, expiresIn = unusedClientSeconds) {
      const value = await sealer.seal(JSON.stringify(payload), [kind, id])
      if (model === 'ReplayDetection')
        return useAssertion(records, { kind, id, value }, payload.iss)
      const owner = (isOfStrangers && clientNetwork.getStore()) || 'oauth'
      const record = { kind, id, owner, value, forMs: expiresIn * 1000 }
      if ((await records.put(record, bounds)) === 'full')
        throw new StateError(`The state holds too many records of the kind ${kind}.`)
    },
    async find(id) {
      const payload = await read(id)
      if (model !== 'AuthorizationCode' || payload?.grantId === undefined) return payload
      const isLive = await keptKeys.has({ of: 'grant', id: payload.grantId })
      if (!isLive) return undefined
      const isUsed = (await records.get(use(id))) !== undefined
      return isUsed ? { ...payload, consumed: true } : payload
    },
    async consume(id) {
      const payload = await read(id)
      const forMs = Math.max(1, (payload?.exp ?? 0) * 1000 - Date.now())
      const added = await records.add({ ...use(id), owner: 'oauth', value: '', forMs })
      if (added === 'added') return
      if (payload?.grantId !== undefined) await endGrant(payload.grantId)
      throw new errors.InvalidGrant('it was used before')
    },
    async destroy(id) {
      if (model === 'Grant') await endGrant(id)
      else await records.remove({ kind, id })
    },
    revokeByGrantId: endGrant,
    findByUserCode: async () => undefined,
    findByUid: async () => undefined,
  }
}

/**
 * While the state is unavailable, clients get a retryable error and people a page that says so.
 * Nothing is issued or accepted.
 */
function withOutages(adapter: Adapter): Adapter {
  const guarded =
    <A extends unknown[], R>(method: (...given: A) => Promise<R>) =>
    (...given: A): Promise<R> =>
      method(...given).catch((error: unknown) => {
        if (!(error instanceof StateError)) throw error
        const outage = new errors.TemporarilyUnavailable('try again in a moment')
        throw Object.assign(outage, { cause: error, status: 503, statusCode: 503 })
      })
  return {
    upsert: guarded(adapter.upsert),
    find: guarded(adapter.find),
    consume: guarded(adapter.consume),
    destroy: guarded(adapter.destroy),
    revokeByGrantId: guarded(adapter.revokeByGrantId),
    findByUserCode: adapter.findByUserCode,
    findByUid: adapter.findByUid,
  }
}
