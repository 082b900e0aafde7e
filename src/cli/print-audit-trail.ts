import type { AuditEntry, AuditQuery, AuditTrail } from '../state/audit-trail.ts'
import { auditLines } from './audit-table.ts'
import { writeOutput } from './standard-output.ts'

/** How many entries are read at once. */
const pageSize = 500

/** Prints entries on standard output, a page after the other. Throws StateError. */
export async function printAuditTrail(
  trail: AuditTrail,
  { query, wantsJson }: { readonly query: AuditQuery; readonly wantsJson: boolean },
): Promise<void> {
  let isFirst = true
  for await (const page of pagesOf(trail, query)) {
    await writeOutput(`${auditLines(page, { wantsJson, isFirst }).join('\n')}\n`)
    isFirst = false
  }
  if (isFirst && !wantsJson) await writeOutput('The audit trail has no such entry.\n')
}

async function* pagesOf(trail: AuditTrail, query: AuditQuery): AsyncGenerator<AuditEntry[]> {
  let before: AuditEntry | undefined
  let left = query.limit
  while (left > 0) {
    const page = await trail.list({ ...query, before, limit: Math.min(left, pageSize) })
    if (page.length === 0) return
    yield page
    left -= page.length
    before = page.at(-1)
  }
}
