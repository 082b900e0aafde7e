import { describe, expect, test } from 'vitest'
import type { UndoStore } from '../../../src/state/undo-log.ts'

const bounds = { maxAgeMs: 60_000, perOwner: 100, inAll: 1000 }
const key = { owner: 'me', change: 'a change' }
const valuesOf = async (items: Promise<readonly { value: string }[]>) =>
  (await items).map(({ value }) => value)

/**
 * Tests that all stores of earlier values must pass. `open`: two connections to one empty store, as
 * of servers that share it.
 */
export function describeUndoStore(
  name: string,
  open: () => Promise<readonly [UndoStore, UndoStore]>,
): void {
  describe(`a store of earlier values ${name}`, () => {
    test('returns the items of a change on every server, by number', async () => {
      const [one, other] = await open()
      expect(await one.ofChange(key, bounds)).toEqual([])
      await one.add(key, [{ item: 0, object: 'x', value: 'first' }], bounds)
      await other.add(key, [{ item: 2, object: 'z', value: 'third' }], bounds)
      await one.add(key, [{ item: 1, object: 'y', value: `'"; \u{1f600}` }], bounds)
      for (const store of [one, other])
        expect(await store.ofChange(key, bounds)).toMatchObject([
          { item: 0, value: 'first' },
          { item: 1, value: `'"; \u{1f600}` },
          { item: 2, value: 'third' },
        ])
      const [first] = await one.ofChange(key, bounds)
      expect(Math.abs(Number(first?.at) - Date.now())).toBeLessThan(60_000)
    })

    test('settling replaces values, and adds no items', async () => {
      const [one, other] = await open()
      await one.add(key, [{ item: 0, object: 'x', value: 'sent' }], bounds)
      await other.settle(key, [
        { item: 0, value: 'done' },
        { item: 1, value: 'never added' },
      ])
      expect(await valuesOf(one.ofChange(key, bounds))).toEqual(['done'])
    })

    test('returns no items of another owner or another change', async () => {
      const [one] = await open()
      await one.add(key, [{ item: 0, object: 'x', value: 'mine' }], bounds)
      const others = { owner: 'other', change: key.change }
      await one.settle(others, [{ item: 0, value: 'stolen' }])
      expect(await one.ofChange(others, bounds)).toEqual([])
      expect(await one.ofChange({ ...key, change: 'another' }, bounds)).toEqual([])
      expect(await one.ofObject({ owner: 'other', object: 'x' }, 10, bounds)).toEqual([])
      expect(await valuesOf(one.ofChange(key, bounds))).toEqual(['mine'])
    })

    test('returns the newest items of an object', async () => {
      const [one, other] = await open()
      for (const [i, store] of [one, other, one].entries())
        await store.add(
          { ...key, change: `change ${i}` },
          [{ item: 0, object: 'x', value: `${i}` }],
          bounds,
        )
      await one.add(key, [{ item: 0, object: 'y', value: 'of another' }], bounds)
      const object = { owner: 'me', object: 'x' }
      expect(await valuesOf(other.ofObject(object, 2, bounds))).toEqual(['2', '1'])
    })

    test('returns no items that are older than the bound', async () => {
      const [one] = await open()
      await one.add(key, [{ item: 0, object: 'x', value: 'old' }], bounds)
      const none = { ...bounds, maxAgeMs: -1000 }
      expect(await one.ofChange(key, none)).toEqual([])
      expect(await one.ofObject({ owner: 'me', object: 'x' }, 10, none)).toEqual([])
      await one.add(key, [{ item: 1, object: 'x', value: 'new' }], bounds)
      expect(await valuesOf(one.ofChange(key, bounds))).toEqual(['old', 'new'])
    })

    test('deletes the oldest items of an owner beyond the bound, and no items of other owners', async () => {
      const [one] = await open()
      // More items are added than `inAll`, but fewer are kept.
      const few = { ...bounds, perOwner: 3, inAll: 6 }
      await one.add({ owner: 'other', change: 'c' }, [{ item: 0, object: 'x', value: 'kept' }], few)
      for (let item = 0; item < 8; item++)
        await one.add(key, [{ item, object: 'x', value: `${item}` }], few)
      const left = await valuesOf(one.ofChange(key, few))
      // An implementation may exceed the bound by the value that is being added.
      expect(left.slice(-3)).toEqual(['5', '6', '7'])
      expect(left.length).toBeLessThanOrEqual(4)
      expect(await valuesOf(one.ofChange({ owner: 'other', change: 'c' }, few))).toEqual(['kept'])
    })

    test('deletes the oldest items when all owners together exceed the bound', async () => {
      const [one] = await open()
      const few = { ...bounds, inAll: 3 }
      const owners = ['a', 'b', 'c', 'd', 'e']
      for (const owner of owners)
        await one.add({ owner, change: 'c' }, [{ item: 0, object: 'x', value: owner }], few)
      const left = await Promise.all(
        owners.map((owner) => one.ofChange({ owner, change: 'c' }, few)),
      )
      const kept = left.flat().map(({ value }) => value)
      // An implementation may exceed the bound by the value that is being added.
      expect(kept.slice(-3)).toEqual(['c', 'd', 'e'])
      expect(kept.length).toBeLessThanOrEqual(4)
    })

    test('stores many items that several servers add concurrently', async () => {
      const [one, other] = await open()
      await Promise.all(
        Array.from({ length: 20 }, (_, i) =>
          (i % 2 ? one : other).add(
            key,
            Array.from({ length: 5 }, (_, j) => ({ item: i * 5 + j, object: 'x', value: 'v' })),
            { ...bounds, perOwner: 1000 },
          ),
        ),
      )
      expect(await one.ofChange(key, bounds)).toHaveLength(100)
    })
  })
}
