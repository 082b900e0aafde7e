import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { validateOriginHeader } from '@modelcontextprotocol/server'
import { localTokenHeader } from '../session/credential.ts'
import { clientText } from '../text/client-text.ts'

/**
 * Which requests may use the server's own key: none; all (the key of the sandbox protects nothing);
 * or those of the user who started the server, on this machine.
 */
export type OwnKey =
  | { readonly usedBy: 'none' }
  | { readonly usedBy: 'all' }
  | { readonly usedBy: 'local-user'; readonly token: LocalToken | undefined }

/** A secret that only the user who started the server can read. Requests without a key send it. */
export interface LocalToken {
  readonly token: string
  /** The file with the token; `undefined` if each run has a new token. */
  readonly file: string | undefined
}

/** A request without a key. */
interface KeylessRequest {
  readonly headers: IncomingHttpHeaders
  /** The local tokens in its headers. */
  readonly tokens: readonly string[]
}

export interface Refusal {
  readonly status: 401 | 403
  readonly message: string
}

/** Returns a check: why a request may not use the server's own key, or `undefined` if it may. */
export function ownKeyCheck(
  ownKey: OwnKey,
  allowedOrigins: readonly string[],
): (request: KeylessRequest) => Refusal | undefined {
  if (ownKey.usedBy === 'all') return () => undefined
  if (ownKey.usedBy === 'none') return () => ({ status: 401, message: keyWanted })
  const { token } = ownKey
  return ({ headers, tokens }) =>
    refusalOfForwarded(headers) ??
    refusalOfPage(headers, allowedOrigins) ??
    (token && refusalOfToken(tokens, token))
}

/**
 * Headers of proxies: RFC 7239, RFC 9110 §7.6.3, and the ones before these standards. The connection
 * of such a request is from this machine, but the request may be from anywhere.
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

/** Every user of this machine can serve a page on localhost, so pages must be allowed by name. */
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
  // The path is not shown: the client may be a stranger.
  const place =
    file === undefined
      ? 'It is in the client configuration that the server printed when it started; each run has a new one.'
      : 'It is in the client configuration that the server printed when it started, and in the file local-token in its state directory.'
  return {
    status: 401,
    message: `${fault} ${place} Send it as ${localTokenHeader}, or as Authorization: Bearer; or send an API key as X-API-Key.`,
  }
}

/** Takes the same time for all texts, so that a token cannot be guessed in parts. */
const isSame = (one: string, other: string) => timingSafeEqual(hash(one), hash(other))
const hash = (text: string) => createHash('sha256').update(text).digest()

const keyWanted =
  'An API key is required: send it as X-API-Key, or as Authorization: Bearer. It is passed on to the platform.'
