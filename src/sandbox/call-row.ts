import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { CallPlan } from './call-plan.ts'
import type { Store } from './store.ts'

/** A stored call with its whole course (see call-plan.ts and live-calls.ts). Instants are Unix ms. */
export const CallRow = z.object({
  id: z.string(),
  account_id: z.string(),
  type: z.string(),
  direction: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  phone_number_id: z.string().nullable(),
  from_number: z.string().nullable(),
  to_number: z.string().nullable(),
  external_id: z.string().nullable(),
  is_recorded: z.int(),
  created: z.int(),
  answered: z.int().nullable(),
  ended: z.int(),
  answer_status: z.string(),
  outcome: z.string(),
  duration_seconds: z.number(),
  speed: z.number(),
  script: z.string(),
})
export type CallRow = z.output<typeof CallRow>

/** A row with the whole course of the call, in real time. */
export function rowOfPlan(
  who: Pick<
    CallRow,
    | 'account_id'
    | 'type'
    | 'direction'
    | 'agent_id'
    | 'agent_name'
    | 'phone_number_id'
    | 'from_number'
    | 'to_number'
    | 'external_id'
    | 'is_recorded'
  >,
  plan: CallPlan,
  { created, speed, id = randomUUID() }: { created: number; speed: number; id?: string },
): CallRow {
  const ms = (seconds: number) => Math.round((seconds * 1000) / speed)
  const picked = created + ms(plan.ringSeconds)
  return {
    ...who,
    id,
    created,
    answered: plan.isAnswered ? picked : null,
    ended: picked + ms(plan.talkSeconds),
    answer_status: plan.answerStatus,
    outcome: plan.outcome,
    duration_seconds: plan.talkSeconds,
    speed,
    script: JSON.stringify(plan.script),
  }
}

export function insertCall(store: Store, row: CallRow): void {
  store.run(
    `INSERT INTO calls (${callColumns.join(', ')}) VALUES (:${callColumns.join(', :')})`,
    row,
  )
}
const callColumns = Object.keys(CallRow.shape)

/** The call with that external_id, which is unique in its account. */
export function findByExternalId(store: Store, accountId: string, externalId: string) {
  const sql = 'SELECT * FROM calls WHERE account_id = :accountId AND external_id = :externalId'
  return store.get(CallRow, sql, { accountId, externalId })
}
