import { errors } from 'oidc-provider'
import * as z from 'zod'
import { redirectTarget } from './pages/client-details.ts'

const grantTypes = ['authorization_code', 'refresh_token'] as const

/** Client authentication methods; `none` means PKCE alone. */
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

const webAddress = z.url().max(2000)

/** Redirect URI: https, http to a loopback address, or the custom URL scheme of an app. */
const redirectUri = z
  .string()
  .max(2000)
  .refine((uri) => URL.canParse(uri), 'is no address')
  .refine(
    (uri) => URL.parse(uri)?.protocol !== 'http:' || redirectTarget(uri).kind === 'this_computer',
    'with http is allowed to this computer only: a code could be read on the way',
  )

/**
 * Client metadata (RFC 7591 §2) that this server uses. Other fields and unsupported grant types are
 * dropped, as the RFC allows.
 */
export const ClientMetadata = z.object({
  client_name: z.string().max(10_000).optional(),
  redirect_uris: z.array(redirectUri).min(1).max(50),
  grant_types: z.array(z.string()).max(50).optional(),
  token_endpoint_auth_method: z.enum(clientAuthMethods).optional(),
  application_type: z.enum(['web', 'native']).optional(),
  client_uri: webAddress.optional(),
  jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(20) }).optional(),
  jwks_uri: webAddress.optional(),
})
export type ClientMetadata = z.output<typeof ClientMetadata>

/** Validates client metadata. Throws InvalidClientMetadata, naming the invalid field. */
export function parsedMetadata(given: unknown): ClientMetadata {
  const { data, error } = ClientMetadata.safeParse(given)
  if (data) return data
  const [issue] = error.issues
  throw new errors.InvalidClientMetadata(`${issue?.path.join('.')}: ${issue?.message}`)
}

/** A client configured by the operator. */
export const StaticClient = ClientMetadata.extend({
  client_id: z.string().min(1).max(2000),
  client_secret: z.string().min(16).max(2000).optional(),
})
export type StaticClient = z.output<typeof StaticClient>

/**
 * Converts client metadata to oidc-provider's form. The application type defaults to `native` if a
 * redirect URI is a loopback address or has a custom scheme. The grant types default to all
 * supported ones.
 */
export function providerMetadata(metadata: ClientMetadata) {
  const { redirect_uris: uris, grant_types: wanted = grantTypes } = metadata
  const isNative = uris.some((uri) => redirectTarget(uri).kind !== 'web')
  const onlyWeb = uris.every((uri) => /^https?:/i.test(uri))
  const given = metadata.application_type ?? (isNative ? 'native' : 'web')
  return {
    ...metadata,
    // oidc-provider refuses custom schemes for the application type `web`.
    application_type: onlyWeb ? given : 'native',
    grant_types: grantTypes.filter(
      (type) => type === 'authorization_code' || wanted.includes(type),
    ),
    response_types: ['code' as const],
  }
}

/**
 * True for a client configured by the operator. oidc-provider marks it with `noManage`, a property
 * that its types lack.
 */
export const isStaticClient = (client: object | undefined): boolean =>
  client !== undefined && 'noManage' in client

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(?=[/?]|$)/i

/**
 * True if a redirect URI is registered for the client. A loopback URI may have another port than
 * the registered one, because the system picks it (RFC 8252 §7.3).
 */
export function isOwnRedirect(uri: string, own: readonly string[]): boolean {
  if (own.includes(uri)) return true
  // The pattern also matches ports above 65535.
  if (!loopback.test(uri) || !URL.canParse(uri)) return false
  const portFree = withoutPort(uri)
  return own.some((one) => loopback.test(one) && withoutPort(one) === portFree)
}

const withoutPort = (uri: string) => uri.replace(loopback, (_, host: string) => `http://${host}`)
