import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { ConfigError } from '../cli/config/config-error.ts'
import { type OauthConfig, oauthSettings } from '../cli/config/http.ts'
import { settingLabel } from '../cli/config/setting.ts'
import type { FetchDocument, StaticClient } from '../oauth/client-metadata.ts'
import type { AskPlatform, KeyFinding } from '../oauth/platform-keys.ts'
import { ApiError } from '../platform/failure.ts'
import { accountInUse } from '../platform/sessions/account.ts'
import type { Credential, Scope } from '../platform/sessions/credential.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { SealingKeys } from '../state/sealing.ts'
import type { State } from '../state/state.ts'
import { StateError } from '../state/state-access.ts'
import { messageOf } from '../text/safe-text.ts'
import type { Platform } from './platform.ts'
import type { Authorization } from './transports/http-authentication.ts'

export interface OauthParts {
  readonly platform: Platform
  readonly isSandbox: boolean
  readonly sessionFor: (own: Credential) => Session
  readonly state: State
  readonly sealingKeys: SealingKeys
  readonly scopes: readonly Scope[]
  readonly onError: (error: unknown) => void
  /** Replaces the guarded fetch in tests. */
  readonly fetchDocument?: FetchDocument | undefined
}

export interface OpenAuthorization extends Authorization {
  close(): Promise<void>
}

/**
 * Opens the authorization server of `--oauth`. Its code is loaded only here. Throws ConfigError.
 */
export async function openOauth(
  { publicUrl, clientsFile, proxy }: OauthConfig,
  parts: OauthParts,
): Promise<OpenAuthorization> {
  const [{ openAuthorizationServer }, { StaticClient }, { createGuardedFetch }] = await Promise.all(
    [
      import('../oauth/authorization-server.ts'),
      import('../oauth/client-metadata.ts'),
      import('../oauth/guarded-fetch.ts'),
    ],
  )
  const { platform, isSandbox, sessionFor, state, sealingKeys, scopes, onError } = parts
  const clients =
    clientsFile === undefined ? [] : clientsIn(clientsFile, z.array(StaticClient).max(1000))
  const guarded = createGuardedFetch({ proxy })
  try {
    const authorization = await openAuthorizationServer({
      publicUrl,
      scopes,
      clients,
      records: state.records,
      sealingKeys,
      askPlatform: platformAsker(sessionFor),
      platformHost: URL.parse(platform.address)?.host ?? platform.address,
      sandboxKey: isSandbox ? platform.credential?.apiKey : undefined,
      fetchDocument: parts.fetchDocument ?? guarded.fetch,
      // An unavailable state is not a bug. Probes and error responses report it.
      onError: (error) => {
        if (!isOutage(error)) onError(error)
      },
    })
    return { ...authorization, close: guarded.close }
  } catch (error) {
    if (error instanceof StateError) throw new ConfigError(error.message)
    throw error
  }
}

const isOutage = (error: unknown): boolean =>
  error instanceof StateError || (error instanceof Error && error.cause instanceof StateError)

function clientsIn(
  file: string,
  schema: z.ZodType<readonly StaticClient[]>,
): readonly StaticClient[] {
  const name = `${file}, the file of ${settingLabel(oauthSettings, 'oauth-clients')},`
  let given: unknown
  try {
    given = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new ConfigError(`${name} cannot be read: ${messageOf(error).replace(/\.$/, '')}.`)
  }
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new ConfigError(
    `${name} is wrong at ${issue?.path.join('.') || 'its top'}: ${issue?.message}.`,
  )
}

/**
 * Checks an API key that a person enters, by reading the account on which tools would act with it.
 */
const platformAsker =
  (sessionFor: (own: Credential) => Session): AskPlatform =>
  async (apiKey, clientNetwork): Promise<KeyFinding> => {
    const session = sessionFor({ apiKey, source: 'the page of this server', clientNetwork })
    try {
      const { id, name } = await accountInUse(session, undefined)
      return { ok: true, account: { id, name: name ?? undefined } }
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      return { ok: false, reason: reasonOf(error) }
    }
  }

function reasonOf({ failure }: ApiError): 'wrong' | 'no_access' | 'unreachable' {
  if (failure.kind !== 'rejected') return 'unreachable'
  if (failure.status === 401) return 'wrong'
  return failure.status === 403 || failure.status === 404 ? 'no_access' : 'unreachable'
}
