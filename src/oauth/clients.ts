import { hash } from 'node:crypto'
import { type Configuration, errors, Provider } from 'oidc-provider'
import * as z from 'zod'
import { networkOf, RateLimits, spend } from '../server/transports/quotas.ts'
import type { NewRecord, RecordBounds, Records } from '../state/records.ts'
import { StateError } from '../state/state-access.ts'
import { jsonIn } from '../text/json.ts'
import { FetchRefusal, type GuardedFetch } from './guarded-fetch.ts'
import { redirectTarget } from './pages/client-in-words.ts'
import { clientNetwork } from './public-address.ts'

/** The supported grant types. */
const grantTypes = ['authorization_code', 'refresh_token'] as const

/** Client authentication methods; `none` means PKCE alone. */
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

const webAddress = z.url().max(2000)

/** A redirect URI: https, http on the person's own machine, or an app's scheme. */
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

/** Throws InvalidClientMetadata with the name of the field. */
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
 * The metadata in oidc-provider's form. A client with a redirect URI that only a local program can
 * have defaults to `native`. A client that names no grant types gets all supported ones.
 */
export function providerMetadata(metadata: ClientMetadata) {
  const { redirect_uris: uris, grant_types: wanted = grantTypes } = metadata
  const isNative = uris.some((uri) => redirectTarget(uri).kind !== 'web')
  const onlyWeb = uris.every((uri) => /^https?:/i.test(uri))
  const given = metadata.application_type ?? (isNative ? 'native' : 'web')
  return {
    ...metadata,
    // A web client with an app's scheme would be refused for its type alone.
    application_type: onlyWeb ? given : 'native',
    grant_types: grantTypes.filter(
      (type) => type === 'authorization_code' || wanted.includes(type),
    ),
    response_types: ['code' as const],
  }
}

/** True if the operator configured the client: a property that oidc-provider's types lack. */
export const isOperators = (client: object | undefined): boolean =>
  client !== undefined && 'noManage' in client

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?(?=[/?]|$)/i

/**
 * True if codes may be sent to an address: one of the client's own, or, on the person's machine,
 * one that differs only in the port, which the system picks (RFC 8252 §7.3).
 */
export function isOwnRedirect(uri: string, own: readonly string[]): boolean {
  if (own.includes(uri)) return true
  // A port can be out of range.
  if (!loopback.test(uri) || !URL.canParse(uri)) return false
  const portFree = withoutPort(uri)
  return own.some((one) => loopback.test(one) && withoutPort(one) === portFree)
}

const withoutPort = (uri: string) => uri.replace(loopback, (_, host: string) => `http://${host}`)

/** Fetches the metadata or keys of a client. */
export type FetchDocument = GuardedFetch['fetch']

/**
 * Time that the result of a fetch is cached, ms, and the number of documents. oidc-provider caches
 * valid metadata itself, but fetches keys, missing and invalid documents for each request. The
 * draft (client id metadata document §5.2) forbids caching failures; this short cache limits
 * strangers who repeat a request, and a fixed document works after 10 s.
 */
const rememberMs = 10_000
const maxRemembered = 500

interface FetchedDocument {
  readonly text: string
  readonly headers: [string, string][]
}

/** Converts a client's metadata document into the form of this server. */
export function documentFetch(fetchDocument: FetchDocument): typeof fetch {
  const remembered = new Map<string, { until: number; fetched: Promise<FetchedDocument> }>()
  const fetchOnce = (url: string, signal: AbortSignal | null): Promise<FetchedDocument> => {
    const now = performance.now()
    const before = remembered.get(url)
    if (before && before.until > now) return before.fetched
    const fetched = fetchInOurForm(url, { signal, network: clientNetwork.getStore() ?? '' })
    remembered.delete(url)
    // Sorted by expiry.
    for (const [one, { until }] of remembered) {
      if (until > now && remembered.size < maxRemembered) break
      remembered.delete(one)
    }
    remembered.set(url, { until: now + rememberMs, fetched })
    fetched.catch((error: unknown) => {
      // A rate-limited network says nothing about the document.
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
 * Keeps strangers from triggering fetches. The token and revocation endpoints accept any client id,
 * so a client that may need a fetch is looked up only with a stored code or token of its own.
 * Without such a code or token, every client gets the same answer.
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

/** True if the request has a stored code or token of this client. */
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

/** Refuses a client that may retry later; oidc-provider's 400 would mean the opposite. */
export function tooMany(description: string, waitMs = 60_000): Error {
  Provider.ctx?.set('retry-after', String(Math.ceil(waitMs / 1000)))
  const error = new errors.TemporarilyUnavailable(description)
  return Object.assign(error, { status: 429, statusCode: 429 })
}

/** Converts a metadata document; leaves other documents unchanged. */
function inOurForm(text: string, url: string): string {
  const document = z.looseObject({ client_id: z.literal(url) }).safeParse(jsonIn(text))
  if (!document.success) return text
  const { client_secret, client_secret_expires_at } = document.data
  const metadata = providerMetadata(parsedMetadata(document.data))
  // oidc-provider refuses a document with a secret; undefined fields are not serialized.
  return JSON.stringify({ client_id: url, ...metadata, client_secret, client_secret_expires_at })
}

/*
 * Client assertions (private_key_jwt, RFC 7523 §3). Each is single-use, so its use is remembered
 * while it is valid. The server, not the client, bounds that time and their number.
 */

/** Maximum validity of an assertion, s. */
const validSeconds = 5 * 60

/** Tolerance for a client's clock that is ahead, s. */
const clockDoubtSeconds = 30

/** Assertions per minute and server. All users of a hosted assistant are one client. */
const maxAssertions = { perClient: 300, perNetwork: 600 }

/**
 * Retention of a use: until a server whose clock is a minute late refuses the assertion too.
 * `perOwner`, per client: what one server accepts within that time.
 */
const usedForMs = (validSeconds + 120) * 1000
const usedAssertionBounds: RecordBounds = { inAll: 200_000, perOwner: 2_500 }

/**
 * Records the use of an assertion; only the first of concurrent uses succeeds. Throws StateError.
 */
export async function useAssertion(
  records: Records,
  record: Pick<NewRecord, 'kind' | 'id' | 'value'>,
  client: string | undefined,
): Promise<void> {
  const owner = `client ${client}`
  const used = await records.add({ ...record, owner, forMs: usedForMs }, usedAssertionBounds)
  if (used === 'exists') throw new errors.InvalidClientAuth('the assertion was used before')
  if (used === 'full') throw new StateError('Too many client assertions are remembered.')
}

const Claims = z.object({ exp: z.number(), iat: z.number().optional() })

/**
 * Checks the claims of an assertion with a verified signature, so nobody else can use up a client's
 * quota. An assertion is valid until the earlier of `exp` and five minutes after `iat`; `iat` may
 * be absent only if `exp` is within five minutes.
 */
export function createAssertionCheck(): NonNullable<
  Configuration['assertJwtClientAuthClaimsAndHeader']
> {
  const perClient = new RateLimits(maxAssertions.perClient)
  const perNetwork = new RateLimits(maxAssertions.perNetwork)
  return (context, given, _, { clientId }) => {
    const { exp, iat } = Claims.parse(given)
    const now = Date.now() / 1000
    if (iat === undefined && exp > now + validSeconds + clockDoubtSeconds)
      throw new errors.InvalidClientAuth(
        'iat is required in an assertion that expires after more than 5 minutes',
      )
    if (iat !== undefined && iat > now + clockDoubtSeconds)
      throw new errors.InvalidClientAuth('iat of the assertion is in the future')
    if (iat !== undefined && now >= iat + validSeconds)
      throw new errors.InvalidClientAuth('the assertion was made more than 5 minutes ago')
    const waitMs = spend([perClient, hash('sha256', clientId)], [perNetwork, networkOf(context.ip)])
    if (waitMs > 0) throw tooMany('too many client assertions', waitMs)
  }
}
