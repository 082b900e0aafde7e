import type { IncomingMessage, ServerResponse } from 'node:http'
import { errors, type Provider } from 'oidc-provider'
import { scopes as allScopes, type Scope } from '../platform/sessions/credential.ts'
import type { Authorization, TokenResult } from '../server/transports/http-authentication.ts'
import { networkOf, RateLimits, spend } from '../server/transports/quotas.ts'
import type { Records } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing.ts'
import { StateError } from '../state/state-access.ts'
import type { FetchDocument, StaticClient } from './client-metadata.ts'
import {
  asPublicRequest,
  bearerChallenge,
  clientNetwork,
  interactionIn,
  isOauthPath,
  knownRequest,
  paths,
  resourceMetadata,
  resourceOf,
} from './endpoints.ts'
import { createFormTokens } from './forms.ts'
import { createInteractions } from './interactions.ts'
import { sendPage } from './pages/pages.ts'
import { type AskPlatform, createKeptKeys, createKeyCheck, type KeptKeys } from './platform-keys.ts'
import { createProvider, problemPageOf } from './provider.ts'
import { createStateAdapters } from './state-adapter.ts'

export interface AuthorizationServerOptions {
  /** Origin under which clients and browsers reach this server. */
  readonly publicUrl: URL
  /** Scopes that the exposed tools need. */
  readonly scopes: readonly Scope[]
  /** Clients configured by the operator. */
  readonly clients: readonly StaticClient[]
  readonly records: Records
  readonly sealingKeys: SealingKeys
  readonly askPlatform: AskPlatform
  readonly platformHost: string
  /** The key of the sandbox's own account; `undefined` for a real platform. */
  readonly sandboxKey: string | undefined
  readonly fetchDocument: FetchDocument
  /** Called with every unexpected error and every StateError, for the log. */
  readonly onError: (error: unknown) => void
}

/** Dynamic client registrations (RFC 7591) per minute: per client network, and in total. */
const maxRegistrations = { perNetwork: 30, inAll: 300 }

/**
 * Authorization requests per minute and client network. Pending requests are stored;
 * `anonymousBounds` in state-adapter.ts limits their number per network, so that one network cannot
 * use up the capacity for others.
 */
const maxAccessRequests = 300

/**
 * The OAuth authorization server beside the MCP server: metadata, client registration, consent
 * pages and tokens. All data is in the state, so any server that shares the state can continue a
 * flow. Throws StateError.
 */
export async function openAuthorizationServer(
  options: AuthorizationServerOptions,
): Promise<Authorization> {
  const { publicUrl, scopes, records, sealingKeys, onError } = options
  const audience = resourceOf(publicUrl).href
  const keptKeys = createKeptKeys({ records, sealingKeys, audience })
  const adapters = createStateAdapters({ records, sealingKeys, keptKeys })
  const mayRegister = createRegistrationLimit()
  const accessRequests = new RateLimits(maxAccessRequests)
  const provider = await createProvider({ ...options, adapters, mayRegister })
  // Koa's error event, which oidc-provider's types lack. Without this listener Koa would print
  // errors to stderr.
  const koa: NodeJS.EventEmitter = provider
  koa.on('error', onError)
  provider.on('server_error', (_, error) => onError(error))
  const formTokens = createFormTokens(sealingKeys)
  const tryKey = createKeyCheck(options.askPlatform)
  const answerInteraction = createInteractions({
    ...options,
    ...{ provider, keptKeys, adapters, formTokens, tryKey },
  })
  const protocol = provider.callback()
  const serve = async (request: IncomingMessage, response: ServerResponse, address: string) => {
    const path = request.url?.split('?')[0] ?? ''
    if (path.startsWith(paths.resourceMetadata))
      return sendMetadata(request, response, resourceMetadata(publicUrl, scopes))
    asPublicRequest(request, { publicUrl, address })
    const interactionId = interactionIn(path)
    if (interactionId !== undefined) {
      const network = networkOf(address)
      return answerInteraction(interactionId, { request, response, network })
    }
    if (path === paths.authorize) {
      if (spend([accessRequests, networkOf(address)]) > 0)
        return sendPage(response, { page: 'problem', problem: 'too_many' })
      request.url = knownRequest(request.url ?? '', scopes)
    }
    if (path === paths.register && answerPreflight(request, response)) return
    await protocol(request, response)
  }
  return {
    serves: isOauthPath,
    serve: (request, response, address) =>
      clientNetwork.run(networkOf(address), () =>
        serve(request, response, address).catch((error: unknown) => {
          if (!(error instanceof errors.OIDCProviderError)) onError(error)
          if (response.headersSent) return void response.destroy()
          sendPage(response, problemPageOf(error))
        }),
      ),
    readToken: (token) => readToken(token, { provider, keptKeys, publicUrl, onError }),
    challenge: (fault) => bearerChallenge(publicUrl, scopes, fault),
  }
}

function createRegistrationLimit(): (address: string) => boolean {
  const perNetwork = new RateLimits(maxRegistrations.perNetwork)
  const inAll = new RateLimits(maxRegistrations.inAll)
  return (address) => spend([perNetwork, networkOf(address)], [inAll, '']) === 0
}

interface TokenReading extends Pick<AuthorizationServerOptions, 'publicUrl' | 'onError'> {
  readonly provider: Provider
  readonly keptKeys: KeptKeys
}

/** The API key behind an access token, if the token and its grant are valid for this server. */
async function readToken(
  token: string,
  { provider, keptKeys, publicUrl, onError }: TokenReading,
): Promise<TokenResult> {
  try {
    const found = await provider.AccessToken.find(token)
    if (!found?.grantId || found.aud !== resourceOf(publicUrl).href) return invalidToken
    const key = await keptKeys.find({ of: 'grant', id: found.grantId })
    if (!key) return invalidToken
    const allowed = [...found.scopes]
    return {
      ok: true,
      credential: {
        apiKey: key.apiKey,
        source: 'the page of this server (connect it again to get there)',
        oauthClient: found.clientId,
        scopes: allScopes.filter((scope) => allowed.includes(scope)),
      },
    }
  } catch (error) {
    onError(error)
    const message =
      error instanceof StateError || error instanceof errors.TemporarilyUnavailable
        ? 'The access token cannot be checked at the moment. Try again in a moment.'
        : 'The access token could not be checked.'
    return { ok: false, status: 503, message }
  }
}

const invalidToken: TokenResult = {
  ok: false,
  status: 401,
  message:
    'The access token has expired, was revoked, or is not of this server. Get a new one: refresh it, or connect again.',
}

/** Sends a metadata document as JSON. Any website may read it (CORS). */
function sendMetadata(request: IncomingMessage, response: ServerResponse, metadata: object): void {
  if (answerPreflight(request, response)) return
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  response.setHeader('content-type', 'application/json')
  if (!isRead) response.setHeader('allow', 'GET, HEAD, OPTIONS')
  response.writeHead(isRead ? 200 : 405).end(JSON.stringify(isRead ? metadata : {}))
}

function answerPreflight(request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', '*')
  if (request.method !== 'OPTIONS') return false
  response.setHeader('access-control-allow-methods', 'GET, POST, OPTIONS')
  response.setHeader('access-control-allow-headers', 'content-type, mcp-protocol-version')
  response.setHeader('access-control-max-age', '3600')
  response.writeHead(204).end()
  return true
}
