import { DatabaseSync } from 'node:sqlite'
import * as z from 'zod'
import { keyOf } from './seed/accounts.ts'

const json = <T extends z.ZodType>(schema: T) =>
  z.string().transform((text) => schema.parse(JSON.parse(text)))

const AccountRow = z.object({
  id: z.string(),
  parent_id: z.string().nullable(),
  name: z.string(),
  is_active: z.int(),
})

const AgentRow = z.object({
  id: z.string(),
  account_id: z.string(),
  is_archived: z.int(),
  modified: z.int(),
  config: json(
    z.looseObject({
      name: z.string(),
      tags: z.array(z.string()),
      transcriber: z.looseObject({
        keywords: z.array(z.string()).optional(),
        languages: z.array(z.string()).optional(),
      }),
    }),
  ),
})

const TrunkRow = z.object({
  id: z.string(),
  account_id: z.string(),
  name: z.string().nullable(),
  termination_uri: z.string().nullable(),
  allowed_ips: json(z.array(z.string())),
})

const NumberRow = z.object({
  id: z.string(),
  account_id: z.string(),
  number: z.string(),
  friendly_name: z.string().nullable(),
  sip_trunk_id: z.string().nullable(),
  inbound_agent_id: z.string().nullable(),
})

const CallRow = z.object({
  id: z.string(),
  account_id: z.string(),
  type: z.string(),
  direction: z.string(),
  agent_id: z.string(),
  agent_name: z.string().nullable(),
  from_number: z.string().nullable(),
  to_number: z.string().nullable(),
  created: z.int(),
  answer_status: z.string(),
  outcome: z.string(),
  duration_seconds: z.number(),
  script: json(z.array(z.object({ role: z.string(), message: z.string() }))),
})
export type CallRow = z.output<typeof CallRow>

const rows = {
  accounts: AccountRow,
  agents: AgentRow,
  sip_trunks: TrunkRow,
  phone_numbers: NumberRow,
  calls: CallRow,
}
export type Table = keyof typeof rows
export const tables = Object.keys(rows) as Table[]

/** All rows of one job's company in the sandbox's database. */
export type CompanyRows = { readonly [T in Table]: readonly z.output<(typeof rows)[T]>[] }

/** Reads a job's company directly from a sandbox's database, without the API under test. */
export function readCompanyRows(file: string, job: string): CompanyRows {
  const db = new DatabaseSync(file, { readOnly: true })
  try {
    const read = (table: Table) =>
      db
        .prepare(
          `WITH RECURSIVE tree (id) AS (
            SELECT account_id FROM api_keys WHERE api_key = :key
            UNION ALL SELECT accounts.id FROM accounts JOIN tree ON parent_id = tree.id
          )
          SELECT * FROM ${table}
          WHERE ${table === 'accounts' ? 'id' : 'account_id'} IN (SELECT id FROM tree)
          ORDER BY created, id`,
        )
        .all({ key: keyOf(job) })
    return {
      accounts: z.array(rows.accounts).parse(read('accounts')),
      agents: z.array(rows.agents).parse(read('agents')),
      sip_trunks: z.array(rows.sip_trunks).parse(read('sip_trunks')),
      phone_numbers: z.array(rows.phone_numbers).parse(read('phone_numbers')),
      calls: z.array(rows.calls).parse(read('calls')),
    }
  } finally {
    db.close()
  }
}
