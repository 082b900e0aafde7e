import type { AuditEntry, AuditQuery, AuditTrail } from '../audit-trail.ts'

/** The most entries that are kept: nobody deletes them but the end of the process. */
const mostEntries = 1000

/** An audit trail of this process, which ends with it. */
export function createMemoryAuditTrail(most = mostEntries): AuditTrail {
  const entries = new Map<string, AuditEntry>()
  const oldestFirst = () => [...entries.values()].sort(byAge)
  const forget = (some: readonly AuditEntry[]) => {
    for (const { id } of some) entries.delete(id)
    return some.length
  }
  return {
    async save(entry) {
      const known = entries.get(entry.id)
      if (known && known.outcome !== 'begun' && entry.outcome === 'begun') return
      entries.set(entry.id, entry)
      if (entries.size > most) forget(oldestFirst().slice(0, 1))
    },
    async list(query) {
      const wanted = oldestFirst().filter((entry) => isWanted(entry, query))
      return wanted.reverse().slice(0, query.limit)
    },
    async prune(before, most) {
      return forget(
        oldestFirst()
          .filter((entry) => timeOf(entry) < before)
          .slice(0, most),
      )
    },
  }
}

const timeOf = ({ time }: Pick<AuditEntry, 'time'>) => Date.parse(time)

type Age = Pick<AuditEntry, 'id' | 'time'>

const byAge = (one: Age, other: Age) =>
  timeOf(one) - timeOf(other) || (one.id < other.id ? -1 : Number(one.id > other.id))

function isWanted(entry: AuditEntry, { since, until, before, ...same }: AuditQuery): boolean {
  const time = timeOf(entry)
  if (since !== undefined && time < since) return false
  if (until !== undefined && time >= until) return false
  if (before && byAge(entry, before) >= 0) return false
  if (same.key !== undefined && !entry.key.startsWith(same.key)) return false
  return [
    [same.tool, entry.tool],
    [same.outcome, entry.outcome],
  ].every(([wanted, found]) => wanted === undefined || wanted === found)
}
