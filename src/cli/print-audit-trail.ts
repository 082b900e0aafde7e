import type { AuditEntry, AuditQuery, AuditTrail } from '../state/audit-trail.ts'
import { firstCharacters, safeJson, safeLine } from '../text/safe-text.ts'
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

/** Entries of the audit trail as lines: of JSON, or of a table; the first page has its head. */
function auditLines(
  entries: readonly AuditEntry[],
  { wantsJson, isFirst }: { readonly wantsJson: boolean; readonly isFirst: boolean },
): string[] {
  if (wantsJson) return entries.map((entry) => safeJson(JSON.stringify(entry)))
  return [...(isFirst ? [head] : []), ...entries.map(rowOf)].map((row) =>
    safeLine(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')).trimEnd(),
  )
}

/** Fixed, so that pages can be printed one after the other. */
const widths = [20, 9, 19, 16, 12, 24]

const head = ['TIME', 'OUTCOME', 'TOOL', 'KEY', 'CONFIRMED BY', 'CLIENT', 'WHAT']

const rowOf = (entry: AuditEntry): string[] => [
  entry.time.replace(/\.\d+Z$/, 'Z'),
  entry.outcome,
  entry.tool,
  entry.key,
  entry.confirmation,
  clientText(entry),
  whatText(entry),
]

function clientText({ client = {}, transport }: AuditEntry): string {
  const name = client.name ?? client.user_agent ?? '?'
  return `${firstCharacters(String(name), 18)} ${transport}`
}

/** Writes that a row names; JSON has all. */
const mostNamed = 3

function whatText({ reason, arguments: given, writes, failed_request: failed }: AuditEntry) {
  const named = writes.slice(0, mostNamed).map(writeText)
  const more = writes.length - named.length
  const status = failed?.status === undefined ? '' : ` HTTP ${failed.status}`
  return [
    reason && `(${reason}${status})`,
    ...named,
    more > 0 && `and ${more} more`,
    writes.length === 0 && firstCharacters(JSON.stringify(given), 120),
  ]
    .filter(Boolean)
    .join(' ')
}

function writeText(write: AuditEntry['writes'][number]): string {
  const { operation, ids = {}, to_number, made_id, outcome, status } = write
  const facts = [
    ...Object.values(ids),
    to_number,
    made_id && `-> ${made_id}`,
    outcome !== 'done' && `${outcome}${status === undefined ? '' : ` HTTP ${status}`}`,
  ]
  return `${[operation, ...facts.filter(Boolean)].join(' ')};`
}
