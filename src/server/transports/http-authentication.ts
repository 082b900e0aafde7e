import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { validateOriginHeader } from '@modelcontextprotocol/server'
import {
  type Credential,
  holdsLocalToken,
  holdsOauthToken,
  isApiKey,
  localTokenHeader,
  type Scope,
} from '../../platform/sessions/credential.ts'
import { clientText } from '../../text/safe-text.ts'
import { refuse } from './http-answers.ts'

/*
 * How an HTTP request proves who sends it: by an API key, the server's local token or an OAuth access
 * token.
 */

type KeyResult =
  | {
      ok: true
      credential: Credential | undefined
      /** Texts that look like local tokens, not verified. */
      tokens: readonly string[]
      /** Text that looks like an access token, not verified. */
      accessToken: string | undefined
    }
  | { ok: false; status: 400 | 401; message: string }

/**
 * Reads the API key of a request from X-API-Key or from Authorization: Bearer; the latter may
 * contain a local token instead. A header without a usable key is refused, because the client
 * wanted to use a key of its own. Two different keys are refused, because a guess could act on the
 * wrong account.
 */
export function readKey(headers: NodeJS.Dict<string[]>): KeyResult {
  const direct = (headers['x-api-key'] ?? []).map((text) => text.trim())
  const authorization = headers.authorization ?? []
  const bearer = authorization.map((text) => /^Bearer[ \t]+(\S.*)$/i.exec(text.trim())?.[1] ?? '')
  if (direct.some(holdsLocalToken)) return { ok: false, status: 400, message: tokenIsNoKey }
  if (direct.some(holdsOauthToken)) return { ok: false, status: 400, message: accessTokenIsNoKey }
  const tokens = [
    ...(headers[localTokenHeader.toLowerCase()] ?? []).map((text) => text.trim()),
    ...bearer.filter(holdsLocalToken),
  ]
  const accessTokens = bearer.filter(holdsOauthToken)
  const [accessToken] = accessTokens
  const keys = [
    ...direct,
    ...bearer.filter((text) => !holdsLocalToken(text) && !holdsOauthToken(text)),
  ]
  const [apiKey] = keys
  if (accessTokens.length > 1 || (accessToken !== undefined && apiKey !== undefined)) {
    return { ok: false, status: 400, message: tokenAndKey }
  }
  if (apiKey === undefined) return { ok: true, credential: undefined, tokens, accessToken }
  if (keys.includes('')) {
    return { ok: false, status: 401, message: `The request names a key, but holds none. ${wanted}` }
  }
  if (keys.some((key) => key !== apiKey)) {
    return { ok: false, status: 400, message: 'The request holds different keys. Send one.' }
  }
  if (!isApiKey(apiKey)) {
    return { ok: false, status: 400, message: 'The API key holds characters that no key has.' }
  }
  const header = direct.length > 0 ? 'X-API-Key' : 'Authorization'
  const source = `the request's ${header} header`
  return { ok: true, credential: { apiKey, source }, tokens, accessToken }
}

const wanted = 'Send it as X-API-Key, or as Authorization: Bearer.'

const tokenIsNoKey = `X-API-Key holds a local token, which is no key of the platform. Send it as ${localTokenHeader}.`

const accessTokenIsNoKey =
  'X-API-Key holds an access token, which is no key of the platform. Send it as Authorization: Bearer.'

const tokenAndKey = 'The request holds an access token and something else. Send one of them.'

/**
 * Which requests without an API key may use the server's own: none; all (in the sandbox, whose key
 * protects nothing); or those of the user who started the server, from this machine.
 */
export type OwnKey =
  | { readonly usedBy: 'none' }
  | { readonly usedBy: 'all' }
  | { readonly usedBy: 'local-user'; readonly token: LocalToken | undefined }

/**
 * Token by which a request without an API key proves that it comes from the user who started the
 * server: other users of the machine cannot read its file.
 */
export interface LocalToken {
  readonly token: string
  /** The file with the token; `undefined` if each run has a new token. */
  readonly file: string | undefined
}

interface Refusal {
  readonly status: 401 | 403
  readonly message: string
}

/**
 * Returns a check of requests without an API key, by their headers and local tokens. The check
 * returns the reason for a refusal, or `undefined` if the request may use the server's own key.
 */
export function ownKeyCheck(
  ownKey: OwnKey,
  allowedOrigins: readonly string[],
): (headers: IncomingHttpHeaders, tokens: readonly string[]) => Refusal | undefined {
  if (ownKey.usedBy === 'all') return () => undefined
  if (ownKey.usedBy === 'none') return () => ({ status: 401, message: keyWanted })
  const { token } = ownKey
  return (headers, tokens) =>
    refusalOfForwarded(headers) ??
    refusalOfPage(headers, allowedOrigins) ??
    (token && refusalOfToken(tokens, token))
}

/**
 * Headers that proxies add: RFC 7239, RFC 9110 §7.6.3, and older ones. A request with such a header
 * may come from another machine, although its connection comes from this one.
 */
const forwarded = /^(forwarded|via|x-forwarded(-.*)?|x-real-ip)$/

function refusalOfForwarded(headers: IncomingHttpHeaders): Refusal | undefined {
  const name = Object.keys(headers).find((one) => forwarded.test(one))
  if (name === undefined) return undefined
  return {
    status: 401,
    message: `The request came through a proxy (it has the header ${clientText(name)}), and this server uses its own key only for requests from this machine. ${keyWanted}`,
  }
}

/**
 * Refuses requests of web pages that the operator has not allowed, also of other pages on
 * localhost, which any user of this machine can serve.
 */
function refusalOfPage(
  { origin, host }: IncomingHttpHeaders,
  allowedOrigins: readonly string[],
): Refusal | undefined {
  if (!origin || origin === `http://${host}`) return undefined
  if (validateOriginHeader(origin, [...allowedOrigins]).ok) return undefined
  return {
    status: 403,
    message: `Pages of ${clientText(origin)} may not use this server's own key. Start the server with the host of the page in --allowed-origins, or send an API key as X-API-Key.`,
  }
}

function refusalOfToken(
  tokens: readonly string[],
  { token, file }: LocalToken,
): Refusal | undefined {
  if (tokens.length > 0 && tokens.every((one) => isSame(one, token))) return undefined
  const fault =
    tokens.length > 0
      ? 'The local token is wrong.'
      : 'The request has neither an API key nor the local token of this server.'
  // The client is not authenticated, so it is not told the full path of the token's file.
  const place =
    file === undefined
      ? 'It is in the client configuration that the server printed when it started; each run has a new one.'
      : 'It is in the client configuration that the server printed when it started, and in the file local-token in its state directory.'
  return {
    status: 401,
    message: `${fault} ${place} Send it as ${localTokenHeader}, or as Authorization: Bearer; or send an API key as X-API-Key.`,
  }
}

/** Constant-time comparison. */
const isSame = (one: string, other: string) => timingSafeEqual(hash(one), hash(other))
const hash = (text: string) => createHash('sha256').update(text).digest()

const keyWanted =
  'An API key is required: send it as X-API-Key, or as Authorization: Bearer. It is passed on to the platform.'

/** The API key and scopes behind an access token, or why the token is refused. */
export type TokenResult =
  | { readonly ok: true; readonly credential: Credential }
  /** 401: not a valid token for this server; 503: the token cannot be verified now. */
  | { readonly ok: false; readonly status: 401 | 503; readonly message: string }

/** Why an access token is refused, by the error codes of RFC 6750 §3.1. */
export type TokenFault =
  | { readonly error: 'invalid_token' }
  | { readonly error: 'insufficient_scope'; readonly scopes: readonly Scope[] }

/** Interface of the authorization server (src/oauth/) for the HTTP server. */
export interface Authorization {
  /** True if the path, without its query, belongs to the authorization server. */
  readonly serves: (path: string) => boolean
  /**
   * Answers a request to a path of the authorization server. `address`: the client's. Never
   * rejects.
   */
  readonly serve: (
    request: IncomingMessage,
    response: ServerResponse,
    address: string,
  ) => Promise<void>
  /** Returns the API key behind an access token. Never rejects. */
  readonly readToken: (token: string) => Promise<TokenResult>
  /**
   * Value of the WWW-Authenticate header, which tells clients how to get a token or more scopes.
   */
  readonly challenge: (fault?: TokenFault) => string
}

/**
 * Returns the API key behind an access token; `undefined`: the token was refused and the request
 * answered.
 */
export async function credentialOfToken(
  accessToken: string,
  { readToken, challenge }: Authorization,
  response: ServerResponse,
): Promise<Credential | undefined> {
  const result = await readToken(accessToken)
  if (result.ok) return result.credential
  if (result.status === 401)
    response.setHeader('www-authenticate', challenge({ error: 'invalid_token' }))
  return void refuse(response, result.status, result.message)
}

/** Interval of access token checks for an open stream, ms. A check costs one read of the state. */
const checkMs = 5000

/**
 * Ends a stream when its access token expires or is revoked. The client can reconnect with a new
 * token.
 */
export function endWithToken(
  response: ServerResponse,
  accessToken: string,
  { readToken }: Authorization,
): void {
  const check = async () => {
    const result = await readToken(accessToken)
    // The stream survives an unreachable state (503).
    if (!result.ok && result.status === 401) response.end()
  }
  const timer = setInterval(check, checkMs).unref()
  response.once('close', () => clearInterval(timer))
}

/** Refuses a tool call outside the token's scopes (RFC 6750 §3.1). */
export function refuseScopes(
  response: ServerResponse,
  scopes: readonly Scope[],
  { challenge }: Authorization,
): void {
  response.setHeader('www-authenticate', challenge({ error: 'insufficient_scope', scopes }))
  const needed = scopes.join(' ')
  refuse(
    response,
    403,
    `The access token does not allow this tool: it needs the scopes ${needed}. Connect this server again, and tick them on the page.`,
  )
}
