import {
  Client as ClientV2,
  StreamableHTTPClientTransport as HttpV2,
  type OAuthClientMetadata,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError as UnauthorizedV2,
} from '@modelcontextprotocol/client'
import { UnauthorizedError as UnauthorizedV1 } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { ClientKind } from './client.ts'

/**
 * Identification of a client: a metadata document's URL, known credentials, or else dynamic
 * registration.
 */
interface OauthClientOptions {
  readonly clientMetadataUrl?: string
  readonly information?: { readonly client_id: string; readonly client_secret?: string }
  readonly scope?: string
}

/** OAuth data of an SDK client, in memory. */
export class KeptOauth implements OAuthClientProvider {
  readonly redirectUrl = 'http://127.0.0.1:8123/callback'
  readonly clientMetadata: OAuthClientMetadata
  readonly clientMetadataUrl?: string
  information: StoredOAuthClientInformation | undefined
  kept: StoredOAuthTokens | undefined
  authorizationUrl: URL | undefined
  #verifier = ''
  #discovered: OAuthDiscoveryState | undefined

  constructor({ clientMetadataUrl, information, scope }: OauthClientOptions = {}) {
    if (clientMetadataUrl) this.clientMetadataUrl = clientMetadataUrl
    this.information = information
    this.clientMetadata = {
      client_name: 'Test client',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: information?.client_secret ? 'client_secret_basic' : 'none',
      ...(scope && { scope }),
    }
  }

  clientInformation() {
    return this.information
  }

  saveClientInformation(information: StoredOAuthClientInformation) {
    this.information = information
  }

  tokens() {
    return this.kept
  }

  saveTokens(tokens: StoredOAuthTokens) {
    this.kept = tokens
  }

  redirectToAuthorization(url: URL) {
    this.authorizationUrl = url
  }

  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier
  }

  codeVerifier() {
    return this.#verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState) {
    this.#discovered = state
  }

  discoveryState() {
    return this.#discovered
  }
}

/**
 * Connects an SDK client. `decide`: what a person does on the pages; returns the redirect to the
 * client.
 */
export async function connectWithOauth(
  kind: ClientKind,
  mcp: string,
  kept: KeptOauth,
  decide: (authorizationUrl: URL) => Promise<URL>,
): Promise<ClientV1 | ClientV2> {
  const refused = await connect(kind, mcp, kept).catch((error: unknown) => {
    if (error instanceof UnauthorizedV1 || error instanceof UnauthorizedV2) return undefined
    throw error
  })
  if (refused) return refused
  if (!kept.authorizationUrl) throw new Error('The client did not ask for access')
  return connectAgain(kind, mcp, kept, await decide(kept.authorizationUrl))
}

/**
 * Connects a client after the person has allowed it. The last argument is the redirect to the
 * client, with the code.
 */
export async function connectAgain(
  kind: ClientKind,
  mcp: string,
  kept: KeptOauth,
  { searchParams }: URL,
): Promise<ClientV1 | ClientV2> {
  const transport = transportOf(kind, mcp, kept)
  if (transport instanceof HttpV1) await transport.finishAuth(searchParams.get('code') ?? '')
  else await transport.finishAuth(searchParams)
  return connect(kind, mcp, kept)
}

async function connect(
  kind: ClientKind,
  mcp: string,
  kept: KeptOauth,
): Promise<ClientV1 | ClientV2> {
  const info = { name: 'test', version: '1' }
  const transport = transportOf(kind, mcp, kept)
  if (transport instanceof HttpV1) {
    const client = new ClientV1(info)
    // The types of SDK version 1 do not compile with exactOptionalPropertyTypes.
    await client.connect(transport as Parameters<ClientV1['connect']>[0])
    return client
  }
  const mode = kind === 'v2 2025' ? 'legacy' : { pin: '2026-07-28' }
  const client = new ClientV2(info, { versionNegotiation: { mode } })
  await client.connect(transport)
  return client
}

type OptionsV1 = ConstructorParameters<typeof HttpV1>[1]

function transportOf(kind: ClientKind, mcp: string, kept: KeptOauth): HttpV1 | HttpV2 {
  return kind === 'v1'
    ? new HttpV1(new URL(mcp), { authProvider: kept } as OptionsV1)
    : new HttpV2(new URL(mcp), { authProvider: kept })
}
