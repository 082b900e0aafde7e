import * as z from 'zod/mini'
import { lenient, lenientOr, refuseUnless } from '../shared/lenient-schemas.ts'

const text = lenient(z.string())
const texts = lenient(z.array(z.string()))

const account = lenient(z.looseObject({ id: text, name: text }))

/**
 * A changed field. Absent `before`: the field had no value. Absent `after`: it has none now. Null
 * is a value.
 */
const Change = z.looseObject({
  field: z.string(),
  before: z.optional(z.unknown()),
  after: z.optional(z.unknown()),
})
export type Change = z.output<typeof Change>

/** An earlier update, from the history in a result of get_agent. */
const EarlierChange = z.looseObject({ at: text, outcome: text, changes: z.array(Change) })
export type EarlierChange = z.output<typeof EarlierChange>

/** Result for one agent of a bulk operation. */
const ManyItem = z.looseObject({
  agent_id: text,
  name: text,
  account,
  outcome: z.string(),
  problem: text,
  changes: z.optional(z.array(Change)),
  warnings: texts,
  /**
   * 1-based position in the list of an earlier agent with the same changes and warnings, which are
   * omitted here.
   */
  same_as: z.optional(z.number()),
})
export type ManyItem = z.output<typeof ManyItem>

const FailedAccounts = z.looseObject({
  reason: text,
  accounts: lenientOr(z.array(z.looseObject({ id: text, name: text })), []),
})

/**
 * Results of the agent tools as far as the view shows them: an agent; with `changes` an update,
 * with `copied_from` a copy, with `agents` a bulk operation.
 */
export const AgentData = z
  .looseObject({
    id: text,
    agent_id: text,
    account_id: text,
    name: text,
    modified: text,
    copied_from: text,
    /** Fields changed in a copy, with the values that the platform saved, by dotted path. */
    saved: lenient(z.record(z.string(), z.unknown())),
    applied: z.optional(z.boolean()),
    /** Changes of an update, or the history of an agent. */
    changes: z.optional(z.array(z.union([Change, EarlierChange]))),
    changes_note: text,
    warnings: texts,
    /** The account of all agents. Absent if they belong to several: then each agent has its own. */
    account,
    agents: z.optional(z.array(ManyItem)),
    failed_accounts: lenient(z.array(FailedAccounts)),
    /** The agent whose settings the user has opened. */
    opened: z.optional(z.looseObject({ id: text })),
  })
  .check(refuseUnless(({ id, agent_id, agents }) => (id ?? agent_id ?? agents) !== undefined))
export type AgentData = z.output<typeof AgentData>

export type Fields = Readonly<Record<string, unknown>>

const isEarlier = (change: Change | EarlierChange): change is EarlierChange =>
  Array.isArray(change.changes) && change.field === undefined

/** Changes of an update. */
export const changesIn = ({ changes = [] }: AgentData): Change[] =>
  changes.flatMap((change) => (isEarlier(change) ? [] : [change]))

/** The history, newest first. */
export const historyIn = ({ changes = [] }: AgentData): EarlierChange[] => changes.filter(isEarlier)
