import { randomBytes } from 'node:crypto'
import {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import { oauthTokenMark } from '../session/credential.ts'
import type { SealingKeys } from '../state/sealing-keys.ts'
import { documentFetch, type FetchDocument } from './client-documents.ts'
import {
  clientAuthMethods,
  isOwnRedirect,
  providerMetadata,
  type StaticClient,
} from './client-metadata.ts'
import { lifetimes } from './lifetimes.ts'
import type { PageModel } from './pages/models.ts'
import { renderPage } from './pages/render.ts'
import { paths } from './paths.ts'
import { type FeatureOptions, featuresOf } from './provider-features.ts'
import { offlineAccess } from './public-request.ts'
import { signingKey } from './signing-key.ts'
import type { StateAdapters } from './state-adapter.ts'

export interface ProviderOptions extends FeatureOptions {
  readonly clients: readonly StaticClient[]
  readonly adapters: StateAdapters
  readonly sealingKeys: SealingKeys
  readonly fetchDocument: FetchDocument
}

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
      show(context, { page: 'problem', problem, detail: isDefect ? undefined : detail })
    },
  })
  // Only with it are the headers believed that asPublicRequest has set.
  provider.proxy = true
  provider.use(async (context, next) => {
    await next()
    const route = context.oidc?.route
    if (route === 'discovery') Object.assign(context.body, metadata(options))
    const address = context.response.get('location')
    // The person is done: not a redirect, see the page.
    if (route === 'resume' && address && URL.parse(address)?.origin !== publicUrl.origin)
      show(context, { page: 'return', address })
  })
  markTokens(provider)
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

function show(
  context: Pick<KoaContextWithOIDC, 'remove' | 'set' | 'status' | 'body'>,
  model: PageModel,
): void {
  const { status, headers, body } = renderPage(model)
  context.remove('location')
  context.status = status
  context.set({ ...headers })
  context.body = body
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
      // RFC 7591 §2 has client_secret_basic, which needs a secret.
      ...(client_secret === undefined && { token_endpoint_auth_method: 'none' as const }),
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
