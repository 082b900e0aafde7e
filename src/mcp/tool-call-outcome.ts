import { ProtocolError } from '@modelcontextprotocol/server'
import * as z from 'zod'
import type { Target } from '../server/audit/outcome.ts'
import type { Ended } from '../server/observe/observer.ts'
import { errorMetaKey } from '../tool/result.ts'

/**
 * The field `confirmation` of a result. Platform data may have a field of the same name, so the
 * value is validated.
 */
const Confirmation = z
  .object({ state: z.enum(['needed', 'declined', 'dismissed']) })
  .optional()
  .catch(undefined)

/** Fields of a tool result that decide the outcome. All come from this server. */
const EndedCall = z.object({
  resultType: z.string().optional(),
  isError: z.boolean().optional(),
  structuredContent: z.object({ confirmation: Confirmation }).optional().catch(undefined),
  _meta: z.object({ [errorMetaKey]: z.object({ kind: z.string() }).optional() }).optional(),
})

/**
 * Outcome of a tool call in one word: `ok`; the kind of its error (docs/errors.md);
 * `input_required`, `task`, or the state of a confirmation; `protocol_error` for a JSON-RPC error.
 */
export function outcomeOf(ended: Ended<unknown>) {
  if ('error' in ended) return ended.error instanceof ProtocolError ? 'protocol_error' : 'internal'
  const { data } = EndedCall.safeParse(ended.result)
  const { isError, resultType = 'complete', structuredContent, _meta } = data ?? {}
  const { confirmation } = structuredContent ?? {}
  if (confirmation) return `confirmation_${confirmation.state}`
  if (isError) return _meta?.[errorMetaKey]?.kind ?? 'failed'
  return resultType === 'complete' ? 'ok' : resultType
}

/** The fields of a bulk result that identify an item and its outcome. */
const Item = z.object({
  agent_id: z.string().optional(),
  phone_number_id: z.string().optional(),
  name: z.string().optional(),
  to_number: z.string().optional(),
  outcome: z.string(),
})
const Items = z.array(Item)

/** Results of bulk tools. A call for one item has no summary. */
const Result = z.object({
  structuredContent: z.object({
    summary: z.record(z.string(), z.number()),
    agents: Items.default([]),
    numbers: Items.default([]),
    calls: Items.default([]),
  }),
})

/** The outcome of each item of a tool call for several items; empty for one item. */
export function targetsOf(result: unknown): readonly Target[] {
  const { data } = Result.safeParse(result)
  if (!data) return []
  const { agents, numbers, calls } = data.structuredContent
  return [...agents, ...numbers, ...calls].map(
    ({ agent_id, phone_number_id, name, to_number, outcome }) => ({
      id: agent_id ?? phone_number_id ?? (to_number === undefined ? name : undefined),
      to_number,
      outcome,
    }),
  )
}
