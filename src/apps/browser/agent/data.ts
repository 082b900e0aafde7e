import * as z from 'zod/mini'

const text = z.catch(z.optional(z.string()), undefined)
const texts = z.catch(z.optional(z.array(z.string())), undefined)

/** One field that differs. A value that is absent is not null: there was none, or there is none. */
const Change = z.looseObject({
  field: z.string(),
  before: z.optional(z.unknown()),
  after: z.optional(z.unknown()),
})
export type Change = z.output<typeof Change>

/** What became of one of many agents. */
const ManyItem = z.looseObject({
  agent_id: text,
  name: text,
  account: z.catch(z.optional(z.looseObject({ id: text, name: text })), undefined),
  outcome: z.string(),
  problem: text,
  changes: z.optional(z.array(Change)),
  warnings: texts,
  /** It has the changes and warnings of the agent in this place, from 1. */
  same_as: z.optional(z.number()),
})
export type ManyItem = z.output<typeof ManyItem>

const FailedAccounts = z.looseObject({
  reason: text,
  accounts: z.catch(z.array(z.looseObject({ id: text, name: text })), []),
})

/**
 * What the tools for agents return, as far as the view shows it: an agent, with `changes` what an
 * update did to one, with `copied_from` a copy, with `agents` what became of many.
 */
export const AgentData = z
  .looseObject({
    id: text,
    agent_id: text,
    account_id: text,
    name: text,
    modified: text,
    copied_from: text,
    applied: z.optional(z.boolean()),
    changes: z.optional(z.array(Change)),
    warnings: texts,
    agents: z.optional(z.array(ManyItem)),
    failed_accounts: z.catch(z.optional(z.array(FailedAccounts)), undefined),
    /** The agent whose settings the user wanted to see. */
    opened: z.optional(z.looseObject({ id: text })),
  })
  .check(z.refine(({ id, agent_id, agents }) => (id ?? agent_id ?? agents) !== undefined))
export type AgentData = z.output<typeof AgentData>

export type Fields = Readonly<Record<string, unknown>>
