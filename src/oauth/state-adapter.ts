import { type Adapter, type AdapterPayload, errors } from 'oidc-provider'
import * as z from 'zod'
import { isObject } from '../json/is-object.ts'
import type { OauthRecordKind, RecordBounds, Records } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing-keys.ts'
import { StateError } from '../state/state-error.ts'
import type { KeptKeys } from './kept-keys.ts'
import { createSealer } from './sealer.ts'

/*
 * What oidc-provider keeps, in the records that servers share. Ids are hashed there, and payloads are
 * sealed here: they hold tokens and secrets of clients.
 *
 * - What belongs to a grant is valid only while the grant has its key (kept-keys.ts). So a grant is
 *   revoked by one removal, also what a request of the same moment is still making of it.
 * - A code or refresh token is used by adding a record, which only one request can do. The second use
 *   ends the grant, and so everything that the first one got.
 * - Sessions are not kept: a browser is not logged in, so each request for access is answered by a
 *   person with a key.
 */

/** The models of oidc-provider that are kept. */
const kinds: Readonly<Record<string, OauthRecordKind | undefined>> = {
  Client: 'oauth_client',
  Interaction: 'oauth_interaction',
  Grant: 'oauth_grant',
  AuthorizationCode: 'oauth_code',
  AccessToken: 'oauth_access_token',
  RefreshToken: 'oauth_refresh_token',
  ReplayDetection: 'oauth_replay',
}

/** Most of each kind, so that strangers cannot fill the disk: anyone can register and ask. */
const most: RecordBounds = { inAll: 200_000, perOwner: 200_000 }
const mostOfStrangers: RecordBounds = { inAll: 20_000, perOwner: 20_000 }
const strangers: readonly string[] = ['Client', 'Interaction']

const day = 24 * 3600
/** A client that registers is kept for a day; once somebody has allowed it access, for longer. */
const unusedClientSeconds = day
const usedClientSeconds = 400 * day

export interface StateAdapterOptions {
  readonly records: Records
  readonly sealingKeys: SealingKeys
  readonly keptKeys: KeptKeys
}

const Payload = z.record(z.string(), z.unknown())

export interface StateAdapters {
  readonly of: (model: string) => Adapter
  /** A client that a person has allowed access is kept for longer. */
  readonly keepClient: (clientId: string) => Promise<void>
}

export function createStateAdapters(options: StateAdapterOptions): StateAdapters {
  const clients = keptModel('Client', 'oauth_client', options)
  return {
    of(model) {
      const kind = kinds[model]
      return kind ? withOutages(keptModel(model, kind, options)) : nothingKept
    },
    async keepClient(clientId) {
      const payload = await clients.find(clientId)
      if (payload) await clients.upsert(clientId, payload, usedClientSeconds)
    },
  }
}

function keptModel(
  model: string,
  kind: OauthRecordKind,
  { records, sealingKeys, keptKeys }: StateAdapterOptions,
): Adapter {
  const sealer = createSealer(sealingKeys, 'oauth records')
  const bounds = strangers.includes(model) ? mostOfStrangers : most
  const use = (id: string) => ({ kind: 'oauth_used', id: `${kind} ${id}` }) as const
  const read = async (id: string): Promise<AdapterPayload | undefined> => {
    const sealed = await records.get({ kind, id })
    const text = sealed && (await sealer.open(sealed, [kind, id]))
    return text ? Payload.parse(JSON.parse(text)) : undefined
  }
  const endGrant = async (id: string) => {
    await keptKeys.remove({ of: 'grant', id })
    await records.remove({ kind: 'oauth_grant', id })
  }
  return {
    async upsert(id, payload, expiresIn = unusedClientSeconds) {
      const value = await sealer.seal(JSON.stringify(payload), [kind, id])
      const record = { kind, id, owner: 'oauth', value, forMs: expiresIn * 1000 }
      // An assertion of a client may be used once: of two at the same moment one is recorded.
      if (model === 'ReplayDetection') {
        if ((await records.add(record, bounds)) === 'added') return
        throw new errors.InvalidClientAuth('the assertion was used before')
      }
      if ((await records.put(record, bounds)) === 'full')
        throw new StateError(`The state holds too many records of the kind ${kind}.`)
    },
    async find(id) {
      const payload = await read(id)
      if (!payload || !belongsToGrant(model, payload)) return payload
      const isLive = await keptKeys.has({ of: 'grant', id: payload.grantId })
      if (!isLive) return undefined
      const isUsed = canBeUsed(model) && (await records.get(use(id))) !== undefined
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
 * While the state cannot be used, clients get the error that says so and try again later; the pages
 * say it to persons. Nothing is made or accepted meanwhile.
 */
function withOutages(adapter: Adapter): Adapter {
  const guarded =
    <A extends unknown[], R>(method: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      try {
        return await method(...given)
      } catch (error) {
        if (!(error instanceof StateError)) throw error
        throw Object.assign(new errors.TemporarilyUnavailable('try again in a moment'), {
          cause: error,
          status: 503,
          statusCode: 503,
        })
      }
    }
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

const canBeUsed = (model: string) => model === 'AuthorizationCode' || model === 'RefreshToken'

const belongsToGrant = (
  model: string,
  payload: AdapterPayload,
): payload is AdapterPayload & { grantId: string } =>
  (canBeUsed(model) || model === 'AccessToken') &&
  isObject(payload) &&
  typeof payload.grantId === 'string'

const nothing = async () => undefined
const nothingKept: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
}
