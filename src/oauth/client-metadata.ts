import { errors, Provider } from 'oidc-provider'
import * as z from 'zod'
import { jsonIn } from '../text/json.ts'
import { clientNetwork, tooMany } from './endpoints.ts'
import { FetchRefusal, type GuardedFetch } from './guarded-fetch.ts'
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

/*
 * Client metadata documents (draft-ietf-oauth-client-id-metadata-document): the metadata of a client
 * at the https address that is the client's id.
 */

/** Fetches a client's metadata document or JWKS. */
export type FetchDocument = GuardedFetch['fetch']

/**
 * How long fetched documents and failures are cached, ms. oidc-provider itself caches only valid
 * metadata, so each request of a stranger would fetch keys and invalid documents again. The draft
 * (client id metadata document §5.2) forbids caching failures; 10 s is short enough for a corrected
 * document.
 */
const rememberMs = 10_000
/** Maximum cached documents and failures. */
const maxRemembered = 500

interface FetchedDocument {
  readonly text: string
  readonly headers: [string, string][]
}

/**
 * The `fetch` that oidc-provider uses for client documents. Caches them, and reduces metadata
 * documents to the supported fields.
 */
export function documentFetch(fetchDocument: FetchDocument): typeof fetch {
  const remembered = new Map<string, { until: number; fetched: Promise<FetchedDocument> }>()
  const fetchOnce = (url: string, signal: AbortSignal | null): Promise<FetchedDocument> => {
    const now = performance.now()
    const before = remembered.get(url)
    if (before && before.until > now) return before.fetched
    const fetched = fetchInOurForm(url, { signal, network: clientNetwork.getStore() ?? '' })
    remembered.delete(url)
    // The map is sorted by expiry, soonest first.
    for (const [one, { until }] of remembered) {
      if (until > now && remembered.size < maxRemembered) break
      remembered.delete(one)
    }
    remembered.set(url, { until: now + rememberMs, fetched })
    fetched.catch((error: unknown) => {
      // Not cached: the requesting network was rate-limited, and other networks may still fetch the
      // document.
      if (isTooMany(error) && remembered.get(url)?.fetched === fetched) remembered.delete(url)
    })
    return fetched
  }
  const fetchInOurForm = async (
    url: string,
    options: Parameters<FetchDocument>[1],
  ): Promise<FetchedDocument> => {
    const response = await fetchDocument(url, options)
    const isKept = ([name]: [string, string]) => ['cache-control', 'expires'].includes(name)
    return {
      text: inOurForm(await response.text(), url),
      headers: [...response.headers].filter(isKept),
    }
  }
  return async (given, init) => {
    const url = given instanceof Request ? given.url : String(given)
    const { text, headers } = await fetchOnce(url, init?.signal ?? null)
    return new Response(text, { headers })
  }
}

const isTooMany = (error: unknown): boolean =>
  error instanceof FetchRefusal && error.code === 'too_many'

/**
 * Prevents strangers from triggering outgoing requests. The token and revocation endpoints accept
 * any client id, so a client whose lookup may fetch a document is looked up only if the request has
 * a stored code or token of that client. Without one, the response is the same for every client id.
 */
export function guardLookUps({ Client }: Provider): void {
  const { find } = Client
  Client.find = async (id) => {
    const isChecked = ['token', 'revocation'].includes(Provider.ctx?.oidc?.route ?? '')
    const refuseStrangers = async () => {
      if (isChecked && !(await bringsGrantOf(id)))
        throw new errors.InvalidGrant('no code or token of this client')
    }
    const hasDocument = /^https:/i.test(id)
    if (hasDocument) await refuseStrangers()
    const client = await find.call(Client, id).catch((error: unknown) => {
      throw error instanceof Error && isTooMany(error.cause) ? tooMany('too many documents') : error
    })
    if (!hasDocument && client?.jwksUri) await refuseStrangers()
    return client
  }
}

const Granted = z.object({
  code: z.string().optional(),
  refresh_token: z.string().optional(),
  token: z.string().optional(),
})

/** True if the request's code or token is stored and belongs to the client. */
async function bringsGrantOf(clientId: string): Promise<boolean> {
  const { provider, params } = Provider.ctx?.oidc ?? {}
  const { data } = Granted.safeParse(params)
  if (!provider || !data) return false
  const { AuthorizationCode, RefreshToken, AccessToken } = provider
  const found = await Promise.all([
    data.code !== undefined && AuthorizationCode.find(data.code),
    data.refresh_token !== undefined && RefreshToken.find(data.refresh_token),
    data.token !== undefined && RefreshToken.find(data.token),
    data.token !== undefined && AccessToken.find(data.token),
  ])
  return found.some((one) => one && one.clientId === clientId)
}

/**
 * Converts a client metadata document to oidc-provider's form. Returns other documents, such as a
 * JWKS, unchanged.
 */
function inOurForm(text: string, url: string): string {
  const document = z.looseObject({ client_id: z.literal(url) }).safeParse(jsonIn(text))
  if (!document.success) return text
  const { client_secret, client_secret_expires_at } = document.data
  const metadata = providerMetadata(parsedMetadata(document.data))
  // Secrets are kept so that oidc-provider refuses the document. JSON drops undefined fields.
  return JSON.stringify({ client_id: url, ...metadata, client_secret, client_secret_expires_at })
}
