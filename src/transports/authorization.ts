import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Credential, Scope } from '../session/credential.ts'

/** What an access token stands for, or why it cannot be used. */
export type TokenReading =
  | { readonly ok: true; readonly credential: Credential }
  /** 401: it is none of this server's that are valid; 503: that cannot be found out now. */
  | { readonly ok: false; readonly status: 401 | 503; readonly message: string }

/** What is wrong with the access token of a request (RFC 6750 §3.1). */
export type TokenFault =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scopes: readonly Scope[] }

/** The authorization server beside an HTTP server, as that one uses it (src/oauth/). */
export interface Authorization {
  /** Whether it answers the requests to a path, which has no query. */
  readonly serves: (path: string) => boolean
  /** Answers a request to one of its paths, which comes from `address`. Never rejects. */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ) => Promise<void>
  /** The API key that an access token stands for. Never rejects. */
  readonly readToken: (token: string) => Promise<TokenReading>
  /** The header WWW-Authenticate that tells a client how to get a token, or a better one. */
  readonly challenge: (fault?: TokenFault) => string
}
