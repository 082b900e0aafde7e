import { describe, expect, test } from 'vitest'
import type { AuditEntry, AuditTrail } from '../../../src/state/audit-trail.ts'

export const entryOf = (id: string, more: Partial<AuditEntry> = {}): AuditEntry => ({
  id,
  time: '2026-11-22T08:00:00.000Z',
  platform: 'sandbox',
  tool: 'update_agent',
  outcome: 'done',
  key: 'abcdefgh',
  transport: 'stdio',
  confirmation: 'not_needed',
  arguments: { agent_id: 'a' },
  writes: [{ operation: 'agents.update', outcome: 'done', ids: { agent_id: 'a' } }],
  ...more,
})

/** ISO 8601 time, minutes after the first entry. */
const at = (minutes: number) => new Date(Date.UTC(2026, 10, 22, 8, minutes)).toISOString()
const ms = (minutes: number) => Date.parse(at(minutes))

const idsOf = (entries: readonly AuditEntry[]) => entries.map(({ id }) => id)

/**
 * Tests that every audit trail must pass. `open`: two connections to one empty trail, as of servers
 * that share it.
 */
export function describeAuditTrail(
  name: string,
  open: () => Promise<readonly [AuditTrail, AuditTrail]>,
): void {
  describe(`an audit trail ${name}`, () => {
    test('is empty at first', async () => {
      const [one] = await open()
      expect(await one.list({ limit: 10 })).toEqual([])
      expect(await one.prune(ms(60), 10)).toBe(0)
    })

    test('lists entries of all servers, newest first, in whatever order they were saved', async () => {
      const [one, other] = await open()
      await one.save(entryOf('b', { time: at(2) }))
      await other.save(entryOf('c', { time: at(3) }))
      await one.save(entryOf('a', { time: at(1) }))
      // Entries of the same time are ordered, too.
      await other.save(entryOf('B', { time: at(2) }))
      for (const trail of [one, other])
        expect(idsOf(await trail.list({ limit: 10 }))).toEqual(['c', 'b', 'B', 'a'])
      expect(idsOf(await other.list({ limit: 2 }))).toEqual(['c', 'b'])
    })

    test('returns an entry unchanged, even one of a later version', async () => {
      const [one, other] = await open()
      const odd = `'"; DROP TABLE audit_entries; -- \u0000\ud800 \u{1f600}`
      const entry = entryOf('a', {
        outcome: 'a new word',
        client: { name: odd, version: '1' },
        arguments: { [odd]: [odd, null, 1.5, { deep: true }] },
        subject: 'a new field',
      })
      await one.save(entry)
      expect(await other.list({ limit: 1 })).toEqual([entry])
    })

    test('saving an entry again replaces it', async () => {
      const [one, other] = await open()
      await one.save(entryOf('a', { outcome: 'begun', writes: [] }))
      await other.save(entryOf('a', { outcome: 'done', duration_ms: 12 }))
      expect(await one.list({ limit: 10 })).toEqual([entryOf('a', { duration_ms: 12 })])
      expect(await one.list({ limit: 10, outcome: 'begun' })).toEqual([])
      // A slow process may save the beginning after the end: the end stays.
      await one.save(entryOf('a', { outcome: 'begun', writes: [] }))
      expect(await other.list({ limit: 10 })).toEqual([entryOf('a', { duration_ms: 12 })])
    })

    test('filters by time, tool, outcome and first characters of the key', async () => {
      const [one] = await open()
      await one.save(entryOf('a', { time: at(1), tool: 'place_call', key: 'k%1' }))
      await one.save(entryOf('b', { time: at(2), outcome: 'failed' }))
      await one.save(entryOf('c', { time: at(3), key: 'k_2' }))
      const ids = async (query: object) => idsOf(await one.list({ limit: 10, ...query }))
      expect(await ids({ since: ms(2) })).toEqual(['c', 'b'])
      expect(await ids({ until: ms(2) })).toEqual(['a'])
      expect(await ids({ since: ms(1), until: ms(3) })).toEqual(['b', 'a'])
      expect(await ids({ tool: 'place_call' })).toEqual(['a'])
      expect(await ids({ outcome: 'failed' })).toEqual(['b'])
      expect(await ids({ key: 'k' })).toEqual(['c', 'a'])
      expect(await ids({ key: 'k%' })).toEqual(['a'])
      expect(await ids({ key: 'k_2' })).toEqual(['c'])
      expect(await ids({ tool: 'place_call', outcome: 'failed' })).toEqual([])
    })

    test('continues after an entry, even among entries of the same time', async () => {
      const [one] = await open()
      const all = ['a', 'b', 'c', 'd', 'e']
      for (const id of all) await one.save(entryOf(id, { time: at(id === 'a' ? 0 : 1) }))
      const found: string[] = []
      let before: AuditEntry | undefined
      for (;;) {
        const page = await one.list({ limit: 2, before })
        found.push(...idsOf(page))
        before = page.at(-1)
        if (!before) break
      }
      expect(found).toEqual([...all].reverse())
    })

    test('prunes at most the given number of entries that began before a time, oldest first', async () => {
      const [one, other] = await open()
      for (const minutes of [1, 2, 3, 4])
        await one.save(entryOf(`${minutes}`, { time: at(minutes) }))
      expect(await other.prune(ms(4), 2)).toBe(2)
      expect(idsOf(await one.list({ limit: 10 }))).toEqual(['4', '3'])
      expect(await one.prune(ms(4), 2)).toBe(1)
      expect(await one.prune(ms(4), 2)).toBe(0)
      expect(idsOf(await other.list({ limit: 10 }))).toEqual(['4'])
    })
  })
}
