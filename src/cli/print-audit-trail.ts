import { once } from 'node:events'
import type { AuditEntry, AuditQuery, AuditTrail } from '../state/audit-trail.ts'
import { auditLines } from './audit-table.ts'

/** How many entries are read at once. */
const pageSize = 500

/** Prints entries on standard output, a page after the other. Throws StateError. */
export async function printAuditTrail(
  trail: AuditTrail,
  { query, wantsJson }: { readonly query: AuditQuery; readonly wantsJson: boolean },
): Promise<void> {
  let isFirst = true
  for await (const page of pagesOf(trail, query)) {
    await write(auditLines(page, { wantsJson, isFirst }))
    isFirst = false
  }
  if (isFirst && !wantsJson) await write(['The audit trail has no such entry.'])
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

/** A reader that is slow is waited for; one that has gone needs no more. */
async function write(lines: readonly string[]): Promise<void> {
  const { stdout } = process
  if (stdout.write(`${lines.join('\n')}\n`) || stdout.destroyed) return
  await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined)
}
