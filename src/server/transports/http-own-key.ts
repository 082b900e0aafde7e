import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { validateOriginHeader } from '@modelcontextprotocol/server'
import { localTokenHeader } from '../../platform/sessions/credential.ts'
import { clientText } from '../../text/safe-text.ts'

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
