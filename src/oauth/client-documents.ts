import { errors } from 'oidc-provider'
import * as z from 'zod'
import { ClientMetadata, providerMetadata } from './client-metadata.ts'
import type { GuardedFetch } from './guarded-fetch/guarded-fetch.ts'

/** Fetches a document that a client names: its metadata, or its keys. */
export type FetchDocument = GuardedFetch['fetch']

/** The metadata of a client come in its own form, and are passed on in ours. */
export const documentFetch =
  (fetchDocument: FetchDocument): typeof fetch =>
  async (given, init) => {
    const url = given instanceof Request ? given.url : given
    const response = await fetchDocument(url, { signal: init?.signal ?? null })
    if (response.status !== 200) return response
    const text = await response.text()
    const { headers } = response
    return new Response(inOurForm(text, String(url)), {
      headers: [...headers].filter(([name]) => ['cache-control', 'expires'].includes(name)),
    })
  }

/** A document that names itself is one of metadata; another one is passed on as it is. */
function inOurForm(text: string, url: string): string {
  const document = z.looseObject({ client_id: z.literal(url) }).safeParse(jsonIn(text))
  if (!document.success) return text
  const { client_secret, client_secret_expires_at } = document.data
  const metadata = providerMetadata(parsedMetadata(document.data))
  // A document with a secret is refused by oidc-provider; undefined fields are not written.
  return JSON.stringify({ client_id: url, ...metadata, client_secret, client_secret_expires_at })
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Throws InvalidClientMetadata, which names the field. */
export function parsedMetadata(given: unknown): ClientMetadata {
  const { data, error } = ClientMetadata.safeParse(given)
  if (data) return data
  const [issue] = error.issues
  throw new errors.InvalidClientMetadata(`${issue?.path.join('.')}: ${issue?.message}`)
}
