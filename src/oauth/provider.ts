import { createPrivateKey, randomBytes } from 'node:crypto'
import {
  type Configuration,
  errors,
  interactionPolicy,
  type KoaContextWithOIDC,
  Provider,
} from 'oidc-provider'
import * as z from 'zod'
import type { Scope } from '../platform/sessions/credential.ts'
import type { SealingKeys } from '../state/sealing.ts'
import { StateError } from '../state/state-access.ts'
import { createAssertionCheck } from './client-assertions.ts'
import {
  clientAuthMethods,
  documentFetch,
  type FetchDocument,
  guardLookUps,
  isOwnRedirect,
  isStaticClient,
  parsedMetadata,
  providerMetadata,
  type StaticClient,
} from './client-metadata.ts'
import { offlineAccess, paths, resourceOf, tooMany } from './endpoints.ts'
import type { PageModel, ProblemModel } from './pages/models.ts'
import { renderPage } from './pages/pages.ts'
import type { StateAdapters } from './state-adapter.ts'
import { lifetimes, type Tokens, tokenText } from './tokens.ts'

interface ProviderOptions {
  readonly publicUrl: URL
  /** Scopes that the exposed tools need. */
  readonly scopes: readonly Scope[]
  /** True if a client at this network address may register now. */
  readonly mayRegister: (address: string) => boolean
  readonly clients: readonly StaticClient[]
  readonly adapters: StateAdapters
  readonly sealingKeys: SealingKeys
  readonly fetchDocument: FetchDocument
}

/** The only account of oidc-provider. Identity comes from the grant's API key. */
export const anybody = 'anybody'

/** The authorization protocol, by oidc-provider. Throws StateError. */
export async function createProvider(options: ProviderOptions): Promise<Provider> {
  const { publicUrl, sealingKeys } = options
  const cookieKeys = await sealingKeys.of('oauth cookies')
  const signingKeys = await sealingKeys.of('oauth signatures')
  const provider = new Provider(publicUrl.origin, {
    ...endpoints,
    ...grants,
    rotateRefreshToken: (context) => checkRenewal(context, options.adapters.tokens),
    ...clientsOf(options),
    assertJwtClientAuthClaimsAndHeader: createAssertionCheck(),
    adapter: options.adapters.of,
    cookies: cookiesOf(publicUrl, cookieKeys),
    features: featuresOf(options),
    jwks: { keys: signingKeys.map(signingKey) },
    findAccount: (_, sub) => ({ accountId: sub, claims: async () => ({ sub }) }),
    renderError: (context, _, error) => show(context, problemPageOf(error)),
  })
  // Required for oidc-provider to trust the headers that asPublicRequest has set.
  provider.proxy = true
  provider.use(async (context, next) => {
    await next()
    const route = context.oidc?.route
    if (route === 'discovery') Object.assign(context.body, metadata(options))
    // An invalid token counts as revoked (RFC 7009 §2.2).
    if (route === 'revocation' && context.body?.error === 'invalid_grant') {
      context.status = 200
      context.body = ''
    }
    const address = context.response.get('location')
    // End of the flow: a page instead of a redirect, see returnPage.
    if (route === 'resume' && address && URL.parse(address)?.origin !== publicUrl.origin)
      show(context, { page: 'return', name: context.oidc.client?.clientName, address })
  })
  provider.on('authorization.error', ({ oidc }, error) => {
    // A client may have registered any redirect URI. Until the person has answered the consent
    // page, an error is shown as a page instead of sent there.
    const isAnswered = oidc.entities.Interaction?.result !== undefined
    if (!isAnswered && !isStaticClient(oidc.client)) error.allow_redirect = false
  })
  makeTokens(provider, options.adapters.tokens)
  guardLookUps(provider)
  provider.Client.prototype.redirectUriAllowed = function (uri) {
    return isOwnRedirect(uri, this.redirectUris ?? [])
  }
  return provider
}

/**
 * Corrections of oidc-provider's metadata. It lists no scopes, because they belong to a resource,
 * and it lists OpenID Connect, which is not offered.
 */
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

/** Page for a person whose request failed. */
export function problemPageOf(error: unknown): ProblemModel {
  const page = 'problem'
  if (error instanceof StateError) return { page, problem: 'unavailable' }
  if (!(error instanceof errors.OIDCProviderError)) return { page, problem: 'failed' }
  if (error instanceof errors.SessionNotFound) return { page, problem: 'expired' }
  if (error instanceof errors.TemporarilyUnavailable)
    return { page, problem: error.status === 429 ? 'too_many' : 'unavailable' }
  return { page, problem: 'invalid', detail: error.error_description }
}

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

/** A person decides each authorization request, even of a client that has access. */
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
      // The default of RFC 7591 §2 is client_secret_basic, which needs a secret.
      ...(client_secret === undefined && { token_endpoint_auth_method: 'none' as const }),
      ...providerMetadata(metadata),
    })),
    clientDefaults: { id_token_signed_response_alg: 'EdDSA' },
    clientAuthMethods: [...clientAuthMethods],
    // Browser-based clients send requests from any origin; no cookie is used there.
    clientBasedCORS: () => true,
    fetch: documentFetch(fetchDocument),
    fetchResponseBodyLimits: {
      'client_id metadata document': 10_000,
      jwks_uri: 10_000,
      sector_identifier_uri: 10_000,
    },
  }
}

/** `__Host-` and `__Secure-` need https (RFC 6265bis §4.1.3). */
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

/**
 * Refuses a token refresh that would fail, before the refresh token is used up. Throws
 * InvalidTarget, or TemporarilyUnavailable over the hourly limit.
 */
async function checkRenewal(context: KoaContextWithOIDC, tokens: Tokens): Promise<boolean> {
  const { entities, params } = context.oidc
  const token = entities.RefreshToken
  const { resource } = params ?? {}
  // oidc-provider would refuse the request only after using up the token.
  if (typeof resource === 'string' && !token?.resourceIndicators.has(resource))
    throw new errors.InvalidTarget()
  const waitMs = await tokens.renewalWaitMs(token?.grantId ?? '')
  if (waitMs > 0) throw tooMany('too many renewals of this access', waitMs)
  return true
}

/** oidc-provider's token model, which its types lack. */
const Model = z.object({
  getValueAndPayload: z.custom<(this: object) => Promise<{ value: string; payload: object }>>(
    (value) => typeof value === 'function',
  ),
})

/** Replaces the tokens and codes that oidc-provider generates by sealed ones (tokens.ts). */
function makeTokens(
  { AccessToken, RefreshToken, AuthorizationCode }: Provider,
  tokens: Tokens,
): void {
  const ofAccess = Model.parse(AccessToken.prototype).getValueAndPayload
  const ofRefresh = Model.parse(RefreshToken.prototype).getValueAndPayload
  Object.assign(AccessToken.prototype, {
    async getValueAndPayload(this: object) {
      const { payload } = await ofAccess.call(this)
      // Without a payload oidc-provider stores no record.
      return { value: await tokens.newAccessToken(payload), payload: undefined }
    },
  })
  Object.assign(RefreshToken.prototype, {
    async getValueAndPayload(this: InstanceType<typeof RefreshToken>) {
      this.jti = await tokens.newRefreshToken(this.grantId ?? '', this.rotations ?? 0)
      return ofRefresh.call(this)
    },
  })
  Object.assign(AuthorizationCode.prototype, {
    generateTokenId: () => tokenText('code', randomBytes(32).toString('base64url')),
  })
}

/** oidc-provider's enabled features. */
function featuresOf({
  publicUrl,
  scopes,
  mayRegister,
}: ProviderOptions): NonNullable<Configuration['features']> {
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
        if (!mayRegister(context.ip)) throw tooMany('too many registrations')
        // The client's input is validated before oidc-provider reads it.
        const { oidc } = context
        Object.defineProperty(oidc, 'body', { value: providerMetadata(parsedMetadata(oidc.body)) })
        return `client-${randomBytes(18).toString('base64url')}`
      },
    },
    resourceIndicators: {
      enabled: true,
      // Clients of older revisions name no resource; there is only one.
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

/** PKCS #8 prefix of an Ed25519 key (RFC 8410 §7). */
const ed25519Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

/**
 * Signing key of ID tokens, the same on all servers. No ID token is issued, but oidc-provider needs
 * a key, and clients look for one in the OpenID Connect metadata.
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
