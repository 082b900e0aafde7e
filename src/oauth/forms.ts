import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import * as z from 'zod'
import type { SealingKeys } from '../state/sealing.ts'
import { scopeNames } from './pages/models.ts'

const formToken = z.string()
/** Query string of the authorization request, for a link that restarts it after it has expired. */
const again = z.string().optional()

/** A submitted form: of the key page or of the consent page. */
const PageAnswer = z.discriminatedUnion('step', [
  z.object({
    step: z.literal('key'),
    form_token: formToken,
    again,
    answer: z.enum(['continue', 'sandbox', 'cancel']),
    key: z.string().default(''),
  }),
  z.object({
    step: z.literal('consent'),
    form_token: formToken,
    again,
    answer: z.enum(['allow', 'other_key', 'cancel']),
    scopes: z.array(z.enum(scopeNames)),
  }),
])
export type PageAnswer = z.output<typeof PageAnswer>

/** Maximum form body, bytes. A key has at most 4096 characters. */
const longest = 32_768

/** Reads and parses a form; `undefined` if it is malformed or too long. */
export async function readAnswer(request: IncomingMessage): Promise<PageAnswer | undefined> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/x-www-form-urlencoded') return undefined
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk)
    length += bytes.length
    if (length > longest) return undefined
    chunks.push(bytes)
  }
  return answerIn(new URLSearchParams(Buffer.concat(chunks).toString('utf8')))
}

/**
 * Parses form fields; `undefined` if they are not valid. Spaces around a pasted key are trimmed.
 */
export function answerIn(form: URLSearchParams): PageAnswer | undefined {
  const { data } = PageAnswer.safeParse({
    step: form.get('step'),
    form_token: form.get('form_token'),
    again: form.get('again') ?? undefined,
    answer: form.get('answer'),
    key: form.get('key')?.trim(),
    scopes: form.getAll('scope'),
  })
  return data
}

/** CSRF token: binds a form to one authorization request. Methods throw StateError. */
export type FormTokens = ReturnType<typeof createFormTokens>

export function createFormTokens(sealingKeys: SealingKeys) {
  const keys = () => sealingKeys.of('oauth forms')
  return {
    of: async (interactionId: string) => tokenOf((await keys())[0], interactionId),
    isOf: async (interactionId: string, token: string) =>
      (await keys()).some((key) => isSame(tokenOf(key, interactionId), token)),
  }
}

const tokenOf = (key: Uint8Array, id: string) =>
  createHmac('sha256', key).update(id).digest('base64url')

const isSame = (one: string, other: string) =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))

/**
 * True if a form comes from a page of the public address: by Sec-Fetch-Site, or else by Origin. A
 * request without both is not a browser's form, and carries no cookie of a person.
 */
export function isFromOwnPage(headers: IncomingHttpHeaders, publicUrl: URL): boolean {
  const { origin } = headers
  const site = headers['sec-fetch-site']
  // "null": a Referrer-Policy hides the origin, so it proves nothing. Sec-Fetch-Site decides; without
  // it, the form is refused.
  if (origin !== undefined && origin !== 'null' && origin !== publicUrl.origin) return false
  if (site !== undefined) return site === 'same-origin'
  return origin === publicUrl.origin
}
