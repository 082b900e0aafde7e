import * as z from 'zod'
import { AuditRow, type AuditTrail } from '../audit-trail.ts'
import { type Database, NoRow } from './database.ts'

const IdRow = z.object({ id: z.string() })

export function createPostgresAuditTrail({ run }: Pick<Database, 'run'>): AuditTrail {
  return {
    async save(entry) {
      const { id, tool, outcome, key } = entry
      const at = Date.parse(entry.time)
      await run(NoRow, saveSql, [id, at, tool, outcome, key, JSON.stringify(entry)])
    },
    async list({ since, until, tool, outcome, key, before, limit }) {
      const rows = await run(AuditRow, listSql, [
        since ?? null,
        until ?? null,
        tool ?? null,
        outcome ?? null,
        key ?? '',
        before ? Date.parse(before.time) : null,
        before?.id ?? null,
        limit,
      ])
      return rows.map(({ entry }) => entry)
    },
    prune: async (before, max) => (await run(IdRow, pruneSql, [before, max])).length,
  }
}

const table = 'voice_agent_mcp.audit_entries'

const saveSql = `
  INSERT INTO ${table} AS kept VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (id) DO UPDATE SET outcome = EXCLUDED.outcome, entry = EXCLUDED.entry
    WHERE EXCLUDED.outcome <> 'begun' OR kept.outcome = 'begun'`

const listSql = `
  SELECT entry FROM ${table}
  WHERE at >= coalesce($1::bigint, at) AND at < coalesce($2::bigint, at + 1)
    AND tool = coalesce($3, tool) AND outcome = coalesce($4, outcome)
    AND starts_with(key, $5)
    AND ($6::bigint IS NULL OR (at, id) < ($6::bigint, $7::text))
  ORDER BY at DESC, id DESC LIMIT $8::integer`

// Two servers that prune at the same time do not wait for each other.
const pruneSql = `
  DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE at < $1::bigint ORDER BY at, id LIMIT $2::integer
    FOR UPDATE SKIP LOCKED
  ) RETURNING id`
