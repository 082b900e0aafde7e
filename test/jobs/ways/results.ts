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
      sip_trunk: Named.optional(),
      inbound_agent: Named.optional(),
      account: Named.optional(),
    }),
  ),
})

export const Voices = z.looseObject({
  voices: z.array(
    Named.extend({ provider: z.string(), gender: z.string(), description: z.string() }),
  ),
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

export const Models = z.looseObject({
  providers: z.array(
    z.looseObject({
      provider: z.looseObject({ code: z.string() }),
      models: z.array(
        Named.extend({
          latency_rating: z.number().optional(),
          pricing: z.looseObject({ additional_cost_per_minute: z.number() }).optional(),
        }),
      ),
    }),
  ),
})
