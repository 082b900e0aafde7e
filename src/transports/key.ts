import type { IncomingHttpHeaders } from 'node:http'
import { type Credential, isApiKey } from '../mcp/credential.ts'

export type KeyReading =
  | { ok: true; credential: Credential | undefined }
  | { ok: false; message: string }

/**
 * The key a request brings: X-API-Key, or Authorization: Bearer. Two that differ are refused,
 * because guessing which one is meant could act on the wrong account.
 */
export function readKey(headers: IncomingHttpHeaders): KeyReading {
  const direct = single(headers['x-api-key'])
  const bearer = /^Bearer +(.+)$/i.exec(headers.authorization ?? '')?.[1]?.trim()
  if (direct && bearer && direct !== bearer) {
    return { ok: false, message: 'X-API-Key and Authorization name different keys. Send one.' }
  }
  const apiKey = direct || bearer
  if (!apiKey) return { ok: true, credential: undefined }
  if (!isApiKey(apiKey)) {
    return { ok: false, message: 'The API key holds characters that no key has.' }
  }
  const source = direct ? "the request's X-API-Key header" : "the request's Authorization header"
  return { ok: true, credential: { apiKey, source } }
}

const single = (value: string | string[] | undefined) =>
  (Array.isArray(value) ? value[0] : value)?.trim()
