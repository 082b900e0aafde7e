import * as z from 'zod'

/*
 * What the ways read out of results: only the fields that they use.
 */

const Named = z.looseObject({ id: z.string(), name: z.string() })

export const Agents = z.looseObject({
  items: z.array(Named.extend({ tags: z.array(z.string()), account: Named.optional() })),
})

export const Numbers = z.looseObject({
  items: z.array(
    z.looseObject({
      number: z.string(),
      friendly_name: z.string(),
      inbound_agent: Named.optional(),
      account: Named.optional(),
    }),
  ),
})

export const Trunks = z.looseObject({
  items: z.array(
    Named.extend({ phone_numbers: z.array(z.looseObject({ number: z.string() })).optional() }),
  ),
})

export const Voices = z.looseObject({
  voices: z.array(Named.extend({ provider: z.string(), description: z.string() })),
})

export const Calls = z.looseObject({
  items: z.array(
    z.looseObject({ answer_status: z.string(), to_number: z.string(), agent_name: z.string() }),
  ),
})

export const Conversations = z.looseObject({
  items: z.array(
    z.looseObject({
      start_timestamp: z.string(),
      agent_name: z.string(),
      contact_number: z.string(),
    }),
  ),
})

export const CallCounts = z.looseObject({ by_answer_status: z.record(z.string(), z.int()) })

export const Models = z.looseObject({
  models: z.array(
    Named.extend({
      provider: z.string(),
      pricing: z.looseObject({ additional_cost_per_minute: z.number() }).optional(),
    }),
  ),
})
