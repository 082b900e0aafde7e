import {
  type Credential,
  holdsLocalToken,
  holdsOauthToken,
  isApiKey,
  localTokenHeader,
} from '../../platform/sessions/credential.ts'

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
