import { createPrivateKey, randomBytes } from 'node:crypto'
import { type Configuration, errors, interactionPolicy, Provider } from 'oidc-provider'
import * as z from 'zod'
import { oauthTokenMark, type Scope } from '../session/credential.ts'
import type { SealingKeys } from '../state/sealing-keys.ts'
import {
  ClientMetadata,
  clientAuthMethods,
  isOwnRedirect,
  providerMetadata,
} from './client-metadata.ts'
import type { GuardedFetch } from './guarded-fetch/guarded-fetch.ts'
import { lifetimes } from './lifetimes.ts'
import { renderPage } from './pages/render.ts'
import { paths } from './paths.ts'
import { offlineAccess } from './public-request.ts'
import { resourceOf } from './resource-metadata.ts'
import type { StateAdapters } from './state-adapter.ts'
import { showWayBack } from './way-back.ts'

/** Fetches a document that a client names: its metadata, or its keys. */
export type FetchDocument = GuardedFetch['fetch']

export interface ProviderOptions {
  readonly publicUrl: URL
  /** The scopes that some exposed tool needs. */
  readonly scopes: readonly Scope[]
  readonly clients: readonly StaticClient[]
  readonly adapters: StateAdapters
  readonly sealingKeys: SealingKeys
  readonly fetchDocument: FetchDocument
  readonly mayRegister: (ip: string) => boolean
}

/** A client that the operator gives. */
export const StaticClient = ClientMetadata.extend({
  client_id: z.string().min(1).max(2000),
  client_secret: z.string().min(16).max(2000).optional(),
})
export type StaticClient = z.output<typeof StaticClient>

/** Everybody is one account to oidc-provider: who somebody is, only the key of the grant says. */
export const anybody = 'anybody'

/** The authorization server's protocol, by oidc-provider. Throws StateError. */
export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { publicUrl, sealingKeys } = options
  const cookieKeys = await sealingKeys.of('oauth cookies')
  const signingKeys = await sealingKeys.of('oauth signatures')
  const provider = new Provider(publicUrl.origin, {
    ...endpoints,
    ...grants,
    ...clientsOf(options),
    adapter: options.adapters.of,
    cookies: cookiesOf(publicUrl, cookieKeys),
    features: featuresOf(options),
    jwks: { keys: signingKeys.map(signingKey) },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    renderError: (context, { error_description: detail }, error) => {
      const isDefect = !(error instanceof errors.OIDCProviderError)
      const problem = isDefect ? 'failed' : problemOf(error)
      const page = renderPage({ page: 'problem', problem, detail: isDefect ? undefined : detail })
      context.status = page.status
      context.set({ ...page.headers })
      context.body = page.body
    },
  })
  // Only with it are the headers believed that asPublicRequest has set.
  provider.proxy = true
  provider.use(async (context, next) => {
    await next()
    if (context.oidc?.route === 'discovery') Object.assign(context.body, metadata(options))
  })
  markTokens(provider)
  showWayBack(provider, publicUrl)
  provider.Client.prototype.redirectUriAllowed = function (uri) {
    return isOwnRedirect(uri, this.redirectUris ?? [])
  }
  return provider
}

/** What oidc-provider does not know: our scopes belong to a resource. There is no OpenID Connect. */
const metadata = ({ scopes }: ProviderOptions) => ({
  scopes_supported: [...scopes, offlineAccess],
  response_modes_supported: ['query'],
  claims_supported: undefined,
  claim_types_supported: undefined,
})

/** PKCS #8 of an Ed25519 key up to the key itself (RFC 8410 §7). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * The key that ID tokens would be signed with, the same on all servers. None is ever made, but clients
 * look for a key where they look for OpenID Connect, and oidc-provider needs one.
 */
function signingKey(seed: Uint8Array) {
  const der = Buffer.concat([ed25519Prefix, seed])
  const { d, x } = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({
    format: 'jwk',
  })
  return {
    kty: 'OKP' as const,
    crv: 'Ed25519' as const,
    alg: 'EdDSA',
    use: 'sig',
    d: d ?? '',
    x: x ?? '',
  }
}

const problemOf = (error: Error) =>
  error instanceof errors.SessionNotFound ? 'expired' : 'invalid'

const endpoints: Configuration = {
  routes: {
    authorization: paths.authorize,
    token: paths.token,
    registration: paths.register,
    revocation: paths.revoke,
    jwks: paths.jwks,
    end_session: paths.endSession,
  },
  interactions: {
    policy: askAlways(),
    url: (_, { uid }) => `${paths.interaction}/${uid}`,
  },
}

/** Each request for access is decided by a person, also of a client that has access already. */
function askAlways() {
  const { Check, Prompt } = interactionPolicy
  const ask = new Check(
    'not_decided',
    'a person has to decide',
    'interaction_required',
    (context) => (context.oidc.result?.consent ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT),
  )
  return [
    new Prompt({ name: 'login', requestable: true }),
    new Prompt({ name: 'consent', requestable: true }, ask),
  ]
}

const grants: Configuration = {
  scopes: [offlineAccess],
  responseTypes: ['code'],
  pkce: { required: () => true },
  ttl: {
    Interaction: lifetimes.interaction,
    AuthorizationCode: lifetimes.code,
    AccessToken: lifetimes.accessToken,
    RefreshToken: lifetimes.refreshToken,
    Grant: lifetimes.grant,
    Session: lifetimes.interaction,
    IdToken: lifetimes.accessToken,
  },
  rotateRefreshToken: true,
  issueRefreshToken: async (_, client) => client.grantTypeAllowed('refresh_token'),
  expiresWithSession: async () => false,
  loadExistingGrant: ({ oidc }) => {
    const grantId = oidc.result?.consent?.grantId
    return grantId ? oidc.provider.Grant.find(grantId) : undefined
  },
  // Revoking either token ends the grant, on all servers at once.
  revokeGrantPolicy: () => true,
}

function clientsOf({ clients, fetchDocument }: ProviderOptions): Configuration {
  return {
    clients: clients.map(({ client_id, client_secret, ...metadata }) => ({
      client_id,
      ...(client_secret !== undefined && { client_secret }),
      ...providerMetadata(metadata),
    })),
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    clientAuthMethods: [...clientAuthMethods],
    // Pages that run a client themselves send their requests from any origin; no cookie is used there.
    clientBasedCORS: () => true,
    fetch: documentFetch(fetchDocument),
    fetchResponseBodyLimits: {
      'client_id metadata document': 10_000,
      jwks_uri: 10_000,
      sector_identifier_uri: 10_000,
    },
  }
}

/** The metadata of a client come in its own form, and are passed on in ours. */
const documentFetch =
  (fetchDocument: FetchDocument): typeof fetch =>
  async (given, init) => {
    const url = given instanceof Request ? given.url : given
    const response = await fetchDocument(url, { signal: init?.signal ?? null })
    if (response.status !== 200) return response
    const text = await response.text()
    const { headers } = response
    return new Response(inOurForm(text, String(url)), {
      headers: [...headers].filter(([name]) => ['cache-control', 'expires'].includes(name)),
    })
  }

/** A document that names itself is one of metadata; another one is passed on as it is. */
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

/** Throws InvalidClientMetadata, which names the field. */
function parsedMetadata(given: unknown): ClientMetadata {
  const { data, error } = ClientMetadata.safeParse(given)
  if (data) return data
  const [issue] = error.issues
  throw new errors.InvalidClientMetadata(`${issue?.path.join('.')}: ${issue?.message}`)
}

function featuresOf(options: ProviderOptions): NonNullable<Configuration['features']> {
  const { publicUrl, scopes, mayRegister } = options
  const resource = resourceOf(publicUrl).href
  return {
    devInteractions: { enabled: false },
    dPoP: { enabled: false },
    pushedAuthorizationRequests: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    userinfo: { enabled: false },
    revocation: { enabled: true },
    clientIdMetadataDocument: {
      enabled: true,
      ack: 'draft-02',
      cacheDuration: { min: 60, max: 24 * 3600 },
    },
    registration: {
      enabled: true,
      issueRegistrationAccessToken: false,
      idFactory(context) {
        if (!mayRegister(context.ip))
          throw new errors.TemporarilyUnavailable('too many registrations')
        // Before oidc-provider reads what the client sent.
        const { oidc } = context
        Object.defineProperty(oidc, 'body', { value: providerMetadata(parsedMetadata(oidc.body)) })
        return `client-${randomBytes(18).toString('base64url')}`
      },
    },
    resourceIndicators: {
      enabled: true,
      // Clients of older revisions name no resource; there is but one.
      defaultResource: async () => resource,
      useGrantedResource: async () => true,
      getResourceServerInfo: async (_, indicator) => {
        if (withoutSlash(indicator) !== resource) throw new errors.InvalidTarget()
        return {
          scope: scopes.join(' '),
          audience: resource,
          accessTokenFormat: 'opaque',
          accessTokenTTL: lifetimes.accessToken,
        }
      },
    },
  }
}

const withoutSlash = (indicator: string) => indicator.replace(/\/$/, '')

/** `__Host-` and `__Secure-`: the browser takes such cookies over https only (RFC 6265bis §4.1.3). */
function cookiesOf(publicUrl: URL, keys: readonly Uint8Array[]): Configuration['cookies'] {
  const isSecure = publicUrl.protocol === 'https:'
  const base = { httpOnly: true, sameSite: 'lax', secure: isSecure, signed: true } as const
  return {
    keys: keys.map((key) => Buffer.from(key).toString('base64url')),
    names: {
      session: `${isSecure ? '__Host-' : ''}voice_agent_session`,
      interaction: `${isSecure ? '__Secure-' : ''}voice_agent_request`,
      resume: `${isSecure ? '__Secure-' : ''}voice_agent_resume`,
    },
    long: base,
    short: base,
  }
}

/** Gives tokens a form of their own, so that nothing of this server is ever taken for an API key. */
function markTokens({ AccessToken, RefreshToken, AuthorizationCode }: Provider): void {
  const random = () => randomBytes(32).toString('base64url')
  const made = (kind: string) => () => `${oauthTokenMark}-${kind}-${random()}.${oauthTokenMark}`
  // oidc-provider's own function sets the format of an access token, too.
  Object.assign(AccessToken.prototype, { generateTokenId: made('access'), format: 'opaque' })
  Object.assign(RefreshToken.prototype, { generateTokenId: made('refresh') })
  Object.assign(AuthorizationCode.prototype, { generateTokenId: made('code') })
}
