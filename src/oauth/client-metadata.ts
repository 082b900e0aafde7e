import * as z from 'zod'
import { redirectTarget } from './pages/redirect-target.ts'

/** What this server does for clients, whatever more they can. */
const grantTypes = ['authorization_code', 'refresh_token'] as const

/** How clients may prove who they are; `none`: by PKCE alone. */
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

const address = z.url().max(2000)

/** A redirect address: https, http to the person's own machine, or the scheme of an app. */
const redirectUri = z
  .string()
  .max(2000)
  .refine((uri) => URL.canParse(uri), 'is no address')
  .refine(
    (uri) => URL.parse(uri)?.protocol !== 'http:' || redirectTarget(uri).kind === 'this_computer',
    'with http is allowed to this computer only: a code could be read on the way',
  )

/**
 * The metadata of a client (RFC 7591 §2) as far as this server uses them: other fields are left out,
 * as the RFC allows. Of grant types, those that the server has not are left out, too.
 */
export const ClientMetadata = z.object({
  client_name: z.string().max(10_000).optional(),
  redirect_uris: z.array(redirectUri).min(1).max(50),
  grant_types: z.array(z.string()).max(50).optional(),
  token_endpoint_auth_method: z.enum(clientAuthMethods).optional(),
  application_type: z.enum(['web', 'native']).optional(),
  client_uri: address.optional(),
  jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(20) }).optional(),
  jwks_uri: address.optional(),
})
export type ClientMetadata = z.output<typeof ClientMetadata>

/** A client that the operator gives. */
export const StaticClient = ClientMetadata.extend({
  client_id: z.string().min(1).max(2000),
  client_secret: z.string().min(16).max(2000).optional(),
})
export type StaticClient = z.output<typeof StaticClient>

/**
 * The metadata as oidc-provider takes them. A client with a redirect address that only a program on a
 * machine can have is a native one, unless it says what it is. A client that does not say so may
 * refresh, too.
 */
export function providerMetadata(metadata: ClientMetadata) {
  const { redirect_uris: uris, grant_types: wanted = grantTypes } = metadata
  const isNative = uris.some((uri) => redirectTarget(uri).kind !== 'web')
  const onlyWeb = uris.every((uri) => /^https?:/i.test(uri))
  const given = metadata.application_type ?? (isNative ? 'native' : 'web')
  return {
    ...metadata,
    // A web client with the scheme of an app would be refused for its type alone.
    application_type: onlyWeb ? given : 'native',
    grant_types: grantTypes.filter(
      (type) => type === 'authorization_code' || wanted.includes(type),
    ),
    response_types: ['code' as const],
  }
}

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(?=[/?]|$)/i

/**
 * Whether a client may have its codes sent to an address: exactly one of its own, or, on the person's
 * machine, one that differs in the port alone, which the system picks (RFC 8252 §7.3).
 */
export function isOwnRedirect(uri: string, own: readonly string[]): boolean {
  if (own.includes(uri)) return true
  // A port can be too large.
  if (!loopback.test(uri) || !URL.canParse(uri)) return false
  const portFree = withoutPort(uri)
  return own.some((one) => loopback.test(one) && withoutPort(one) === portFree)
}

const withoutPort = (uri: string) => uri.replace(loopback, (_, host: string) => `http://${host}`)
