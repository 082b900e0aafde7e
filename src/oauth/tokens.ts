import { type Adapter, errors } from 'oidc-provider'
import * as z from 'zod'
import { oauthTokenMark } from '../platform/sessions/credential.ts'
import type { RecordKind, Records } from '../state/records.ts'
import { createSealer, type SealingKeys } from '../state/sealing.ts'
import type { KeptKeys } from './platform-keys.ts'

/*
 * Access and refresh tokens. They are sealed, so none needs a record of its own:
 *
 * - An access token contains its payload. It is valid until it expires or its grant ends.
 * - A refresh token contains its grant and its generation: the number of earlier renewals. One record
 *   per grant holds the newest generation. A token of an older generation ends the grant, because it
 *   may have been stolen.
 * - A renewal replaces that record atomically. It needs no capacity, and a failed renewal leaves its
 *   token valid.
 */

/** Renewals of a grant per hour, on all servers; an hour is also the lifetime of an access token. */
const maxRenewals = 60
const hourMs = 3_600_000

export type Tokens = ReturnType<typeof createTokens>

export interface TokensOptions {
  readonly records: Records
  readonly sealingKeys: SealingKeys
  readonly keptKeys: KeptKeys
  readonly endGrant: (grantId: string) => Promise<void>
}

/** Formats a token or code. Its marks identify it, so that it is never accepted as an API key. */
export const tokenText = (kind: 'access' | 'refresh' | 'code', content: string) =>
  `${oauthTokenMark}-${kind}-${content}.${oauthTokenMark}`

const AccessPayload = z.looseObject({ grantId: z.string() })
const RefreshContent = z.tuple([z.string(), z.number()])
const RefreshPayload = z.looseObject({
  jti: z.string(),
  grantId: z.string(),
  rotations: z.number(),
})
/** `fullAt`: time at which the whole hourly quota is available again, ms since 1970. */
const Newest = z.object({ payload: RefreshPayload, fullAt: z.number() })

const kind: RecordKind = 'oauth_refresh_token'

/** Methods throw StateError. */
export function createTokens({ records, sealingKeys, keptKeys, endGrant }: TokensOptions) {
  const sealer = createSealer(sealingKeys, 'oauth tokens')
  const sealed = (of: readonly string[], content: unknown) =>
    sealer.seal(JSON.stringify(content), of)
  const opened = async <T>(of: readonly string[], text: string, content: z.ZodType<T>) => {
    const json = await sealer.open(text, of)
    return json === undefined ? undefined : content.parse(JSON.parse(json))
  }
  const contentOf = (which: 'access' | 'refresh', token: string) => {
    const [start = '', end = ''] = tokenText(which, ' ').split(' ')
    const isOurs = token.startsWith(start) && token.endsWith(end)
    return isOurs ? token.slice(start.length, -end.length) : ''
  }
  const isLive = (grantId: string) => keptKeys.has({ of: 'grant', id: grantId })
  const newestOf = async (id: string) => {
    const stored = await records.get({ kind, id })
    const newest = stored && (await opened([kind, id], stored, Newest))
    return newest ? { ...newest, stored } : undefined
  }

  const accessTokens: Adapter = {
    ...notKept,
    async find(token) {
      const payload = await opened(['access'], contentOf('access', token), AccessPayload)
      return payload && (await isLive(payload.grantId)) ? payload : undefined
    },
    revokeByGrantId: endGrant,
  }

  const refreshTokens: Adapter = {
    ...notKept,
    async upsert(_, given, expiresIn = lifetimes.refreshToken) {
      const payload = RefreshPayload.parse(given)
      const { grantId: id, rotations: generation } = payload
      const record = async (fullAt: number) => ({
        kind,
        id,
        forMs: expiresIn * 1000,
        value: await sealed([kind, id], { payload, fullAt }),
      })
      if (generation === 0) {
        const answer = await records.add({ ...(await record(0)), owner: 'oauth' })
        // A second use of the code may have ended the grant meanwhile.
        if (answer === 'added' && (await isLive(id))) return
      } else {
        const newest = await newestOf(id)
        if (newest?.payload.rotations === generation - 1) {
          const fullAt = Math.max(Date.now(), newest.fullAt) + hourMs / maxRenewals
          if (await records.replace(await record(fullAt), newest.stored)) return
        }
      }
      await endGrant(id)
      throw new errors.InvalidGrant('it was used before')
    },
    async find(token) {
      const content = await opened(['refresh'], contentOf('refresh', token), RefreshContent)
      const newest = content && (await newestOf(content[0]))
      if (!newest || !(await isLive(content[0]))) return undefined
      if (newest.payload.jti === token) return newest.payload
      const isOlder = content[1] < newest.payload.rotations
      return isOlder ? { ...newest.payload, consumed: true } : undefined
    },
    revokeByGrantId: endGrant,
  }

  return {
    accessTokens,
    refreshTokens,
    newAccessToken: async (payload: object) =>
      tokenText('access', await sealed(['access'], payload)),
    newRefreshToken: async (grantId: string, generation: number) =>
      tokenText('refresh', await sealed(['refresh'], [grantId, generation])),
    /** Time until the grant may be renewed, ms; 0: now. */
    async renewalWaitMs(grantId: string) {
      const newest = await newestOf(grantId)
      const usedMs = (newest?.fullAt ?? 0) - Date.now()
      // More than an hour's quota is used only if the clock was set back.
      return Math.max(0, Math.min(usedMs, hourMs) - (hourMs - hourMs / maxRenewals))
    },
  }
}

const nothing = async () => undefined
/** Adapter for models of oidc-provider that are not stored. */
export const notKept: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
}

const minute = 60
const day = 24 * 60 * minute

/** Lifetimes, s. */
export const lifetimes = {
  /** Time for a person to find the key and decide. */
  interaction: 30 * minute,
  code: minute,
  accessToken: 60 * minute,
  /** Lifetime without use. Each use issues a new token. */
  refreshToken: 30 * day,
  /** After this time, a person must allow access again. */
  grant: 365 * day,
} as const
