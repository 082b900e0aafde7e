import { ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { errorMetaKey } from '../call/error-result.ts'

/** What a tool shows of the platform may have a field of this name, too. */
const Confirmation = z
  .object({ state: z.enum(['needed', 'declined', 'dismissed']) })
  .optional()
  .catch(undefined)

/** As much of a tool's result as tells how the call ended. All of it is made by this server. */
const EndedCall = z.object({
  resultType: z.string().optional(),
  isError: z.boolean().optional(),
  structuredContent: z.object({ confirmation: Confirmation }).optional().catch(undefined),
  _meta: z.object({ [errorMetaKey]: z.object({ kind: z.string() }).optional() }).optional(),
})

/**
 * How a call ended, in one word: `ok`; the kind of its error (docs/errors.md); `input_required`,
 * `task`, or the state of a confirmation; `protocol_error` for a call that is answered with an error
 * of JSON-RPC.
 */
export function outcomeOf(ended: { readonly result: unknown } | { readonly error: unknown }) {
  if ('error' in ended) return ended.error instanceof ProtocolError ? 'protocol_error' : 'internal'
  const { data } = EndedCall.safeParse(ended.result)
  const { isError, resultType = 'complete', structuredContent, _meta } = data ?? {}
  const { confirmation } = structuredContent ?? {}
  if (confirmation) return `confirmation_${confirmation.state}`
  if (isError) return _meta?.[errorMetaKey]?.kind ?? 'failed'
  return resultType === 'complete' ? 'ok' : resultType
}
