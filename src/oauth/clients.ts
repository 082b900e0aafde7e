import { hash } from 'node:crypto'
import { type Configuration, errors, Provider } from 'oidc-provider'
import * as z from 'zod'
import { networkOf, RateLimits, spend } from '../server/transports/quotas.ts'
import type { NewRecord, RecordBounds, Records } from '../state/records.ts'
import { StateError } from '../state/state-access.ts'
import { FetchRefusal, type GuardedFetch } from './guarded-fetch.ts'
import { redirectTarget } from './pages/client-in-words.ts'
import { clientNetwork } from './public-address.ts'

/** The supported grant types. */
const grantTypes = ['authorization_code', 'refresh_token'] as const

/** How clients authenticate; `none`: by PKCE alone. */
export const clientAuthMethods = [
  'none',
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
] as const

const webAddress = z.url().max(2000)

/** A redirect URI: https, http to the person's own machine, or an app's scheme. */
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
  client_uri: webAddress.optional(),
  jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(20) }).optional(),
  jwks_uri: webAddress.optional(),
})
export type ClientMetadata = z.output<typeof ClientMetadata>

/** Throws InvalidClientMetadata, which names the field. */
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

/** Whether the operator configured a client: a mark of oidc-provider that its types lack. */
export const isOperators = (client: object | undefined): boolean =>
  client !== undefined && 'noManage' in client

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

/** Fetches the metadata or keys of a client. */
export type FetchDocument = GuardedFetch['fetch']

/**
 * For how long what a fetch led to is remembered, ms, and of how many documents. oidc-provider keeps
 * good metadata itself, but fetches anew what was not found or is no metadata, and keys, for each
 * request. The draft (client id metadata document §5.2) wants no failure cached. We keep one for this
 * short time, against strangers who ask for it again and again: a client that mends its document waits
 * no longer.
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
    // They are in the order of their ends.
    for (const [one, { until }] of remembered) {
      if (until > now && remembered.size < maxRemembered) break
      remembered.delete(one)
    }
    remembered.set(url, { until: now + rememberMs, fetched })
    fetched.catch((error: unknown) => {
      // A network that asks too much says nothing about the document.
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
 * Keeps strangers from having documents fetched: at the token and revocation endpoints, which anybody
 * can ask for any client, a client that may need a fetch is looked up only with a code or token of its
 * own that is stored. Without one the answer is the same for every client.
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

/** Whether the request has a stored code or token of this client. */
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

/** Refuses a client that may retry later. The 400 of oidc-provider would tell it not to. */
export function tooMany(description: string, waitMs = 60_000): Error {
  Provider.ctx?.set('retry-after', String(Math.ceil(waitMs / 1000)))
  const error = new errors.TemporarilyUnavailable(description)
  return Object.assign(error, { status: 429, statusCode: 429 })
}

/** Converts a document of metadata; another one is unchanged. */
function inOurForm(text: string, url: string): string {
  const document = z.looseObject({ client_id: z.literal(url) }).safeParse(jsonIn(text))
  if (!document.success) return text
  const { client_secret, client_secret_expires_at } = document.data
  const metadata = providerMetadata(parsedMetadata(document.data))
  // A document with a secret is refused by oidc-provider; undefined fields are not written.
  return JSON.stringify({ client_id: url, ...metadata, client_secret, client_secret_expires_at })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/*
 * Assertions with which clients prove who they are (private_key_jwt, RFC 7523 §3). Each is good once, so
 * each use is remembered for as long as the assertion is valid. How long that is, and how many there
 * are, must not be up to the client.
 */

/** Longest validity of an assertion, s. */
const validSeconds = 5 * 60

/** Tolerance for a client's clock that is ahead, s. */
const clockDoubtSeconds = 30

/** Assertions a minute, per server. All users of a hosted assistant are one client. */
const maxAssertions = { perClient: 300, perNetwork: 600 }

/**
 * How uses are remembered, on all servers: until a server whose clock is a minute late refuses the
 * assertion, too. `perOwner`: of one client; as many as one server accepts within that time.
 */
const usedForMs = (validSeconds + 120) * 1000
const usedAssertionBounds: RecordBounds = { inAll: 200_000, perOwner: 2_500 }

/** Records the use of an assertion. Of two at the same moment, one succeeds. Throws StateError. */
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
 * Checks the claims of an assertion whose signature was verified: nobody else uses up what a client may
 * send. It is valid until the earlier of `exp` and five minutes after `iat`, which may be absent only
 * where `exp` is within five minutes.
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
