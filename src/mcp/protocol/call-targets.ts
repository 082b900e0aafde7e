import * as z from 'zod'
import type { Target } from '../../audit/outcome.ts'

/** As much of an item of a result as says which thing it is, and what came of it. */
const Item = z.object({
  agent_id: z.string().optional(),
  phone_number_id: z.string().optional(),
  name: z.string().optional(),
  to_number: z.string().optional(),
  outcome: z.string(),
})
const Items = z.array(Item)

/** The results of tools that do the same with many things. Those of one thing have no summary. */
const Result = z.object({
  structuredContent: z.object({
    summary: z.record(z.string(), z.number()),
    agents: Items.default([]),
    numbers: Items.default([]),
    calls: Items.default([]),
  }),
})

/** What came of each of many things; nothing where a call was for one. */
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
