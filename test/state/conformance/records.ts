import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createLocalBroadcast } from '../../../src/state/broadcast.ts'
import type { NewRecord, Records } from '../../../src/state/records.ts'
import { createUsedTokens } from '../../../src/tool/single-use-tokens.ts'
import { createCancelledTasks } from '../../../src/tool/task.ts'

const recordOf = (id: string, more: Partial<NewRecord> = {}): NewRecord => ({
  kind: 'used_token',
  id,
  owner: 'me',
  value: `value of ${id}`,
  forMs: 60_000,
  ...more,
})
const key = (id: string) => ({ kind: 'used_token', id }) as const

/**
 * Tests that all record stores must pass. `open`: two connections to one empty store, as of servers
 * that share it.
 */
export function describeRecords(
  name: string,
  open: () => Promise<readonly [Records, Records]>,
): void {
  describe(`records ${name}`, () => {
    test('one of several concurrent requests adds a record', async () => {
      const [one, other] = await open()
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).add(recordOf('a'))),
      )
      expect(answers.filter((answer) => answer === 'added')).toHaveLength(1)
      expect(answers.filter((answer) => answer === 'exists')).toHaveLength(19)
      expect(await one.get(key('a'))).toBe('value of a')
      expect(await other.get(key('a'))).toBe('value of a')
    })

    test('adding an existing id changes nothing, and kinds have separate ids', async () => {
      const [one, other] = await open()
      await one.add(recordOf('a'))
      expect(await other.add(recordOf('a', { value: 'another' }))).toBe('exists')
      expect(await other.add(recordOf('a', { kind: 'cancelled_task', value: 'task' }))).toBe(
        'added',
      )
      expect(await one.get(key('a'))).toBe('value of a')
      expect(await one.get({ kind: 'cancelled_task', id: 'a' })).toBe('task')
      expect(await one.get(key('b'))).toBeUndefined()
    })

    test('one of several concurrent requests removes a record', async () => {
      const [one, other] = await open()
      await one.add(recordOf('a'))
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? one : other).remove(key('a'))),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await other.get(key('a'))).toBeUndefined()
      expect(await other.add(recordOf('a'))).toBe('added')
    })

    test('an expired record is gone, and its id can be used again', async () => {
      const [one, other] = await open()
      await one.add(recordOf('a', { forMs: 600 }))
      await one.add(recordOf('b'))
      expect(await other.add(recordOf('a'))).toBe('exists')
      await sleep(700)
      expect(await other.get(key('a'))).toBeUndefined()
      expect(await other.remove(key('a'))).toBe(false)
      expect(await other.get(key('b'))).toBeDefined()
      expect(await other.add(recordOf('a', { value: 'again' }))).toBe('added')
      expect(await one.get(key('a'))).toBe('again')
    })

    test('records are added up to the bounds per owner and in total', async () => {
      const [one, other] = await open()
      const bounds = { inAll: 3, perOwner: 2 }
      expect(await one.add(recordOf('a', { forMs: 600 }), bounds)).toBe('added')
      expect(await other.add(recordOf('b'), bounds)).toBe('added')
      expect(await one.add(recordOf('c'), bounds)).toBe('full')
      expect(await one.add(recordOf('c', { owner: 'you' }), bounds)).toBe('added')
      expect(await other.add(recordOf('d', { owner: 'another' }), bounds)).toBe('full')
      // Bounds apply per kind.
      expect(await one.add(recordOf('d', { kind: 'cancelled_task' }), bounds)).toBe('added')
      // An existing record does not count again.
      expect(await one.add(recordOf('b'), bounds)).toBe('exists')
      await sleep(700)
      expect(await other.add(recordOf('e'), bounds)).toBe('added')
      expect(await other.add(recordOf('f'), bounds)).toBe('full')
    })

    test('put replaces the value, owner and expiry of a record', async () => {
      const [one, other] = await open()
      expect(await one.put(recordOf('a', { forMs: 200 }))).toBe('kept')
      expect(await other.put(recordOf('a', { owner: 'you', value: 'new' }))).toBe('kept')
      expect(await one.get(key('a'))).toBe('new')
      await sleep(250)
      expect(await one.get(key('a'))).toBe('new')
      expect(await other.put(recordOf('a', { forMs: 100 }))).toBe('kept')
      await sleep(150)
      expect(await one.get(key('a'))).toBeUndefined()
      expect(await one.add(recordOf('a'))).toBe('added')
    })

    test('put is refused as full only for a new record', async () => {
      const [one, other] = await open()
      const bounds = { inAll: 3, perOwner: 2 }
      await one.put(recordOf('a'), bounds)
      await other.put(recordOf('b'), bounds)
      expect(await other.put(recordOf('c'), bounds)).toBe('full')
      expect(await other.put(recordOf('a', { value: 'new' }), bounds)).toBe('kept')
      expect(await one.put(recordOf('c', { owner: 'you' }), bounds)).toBe('kept')
      expect(await one.put(recordOf('d', { owner: 'he' }), bounds)).toBe('full')
      expect(await one.get(key('a'))).toBe('new')
      await one.remove(key('b'))
      expect(await other.put(recordOf('d'), bounds)).toBe('kept')
    })

    test('counts stay exact under concurrent adds, puts and removals', async () => {
      const [one, other] = await open()
      const some = Array.from({ length: 150 }, (_, index) => `${index % 20}`)
      await Promise.all(
        some.map(async (id, index) => {
          const records = index % 2 ? one : other
          const record = recordOf(id, {
            owner: `owner ${index % 3}`,
            forMs: index % 5 ? 60_000 : 1,
          })
          if (index % 7 === 0) await records.remove(record)
          else if (index % 7 < 4) await records.put(record, { inAll: 1000, perOwner: 1000 })
          else await records.add(record, { inAll: 1000, perOwner: 1000 })
        }),
      )
      await sleep(10)
      const left = await Promise.all([...new Set(some)].map((id) => one.get(key(id))))
      const free = 30 - left.filter((value) => value !== undefined).length
      for (let index = 0; index < free; index++)
        expect(await one.add(recordOf(`new ${index}`), { inAll: 30, perOwner: 30 })).toBe('added')
      expect(await other.add(recordOf('new'), { inAll: 30, perOwner: 31 })).toBe('full')
      for (let index = 0; index < free; index++) await other.remove(recordOf(`new ${index}`))
      for (const id of new Set(some)) await one.remove(key(id))
      expect(await one.add(recordOf('new'), { inAll: 1, perOwner: 1 })).toBe('added')
    })

    test('a record that is put for another owner counts for that owner', async () => {
      const [one, other] = await open()
      const bounds = { inAll: 3, perOwner: 1 }
      await one.put(recordOf('a'), bounds)
      expect(await other.put(recordOf('b'), bounds)).toBe('full')
      await other.put(recordOf('a', { owner: 'you' }), bounds)
      expect(await one.put(recordOf('b'), bounds)).toBe('kept')
      expect(await one.put(recordOf('c', { owner: 'you' }), bounds)).toBe('full')
      await one.remove(key('a'))
      expect(await one.put(recordOf('c', { owner: 'you' }), bounds)).toBe('kept')
    })

    test('one of several concurrent replacements succeeds, and keeps the owner', async () => {
      const [one, other] = await open()
      const bounds = { inAll: 3, perOwner: 1 }
      const { owner: _, ...next } = recordOf('a')
      expect(await one.replace({ ...next, value: 'new' }, 'value of a')).toBe(false)
      await one.add(recordOf('a', { forMs: 300 }), bounds)
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (index % 2 ? one : other).replace({ ...next, value: `new ${index}` }, 'value of a'),
        ),
      )
      expect(answers.filter(Boolean)).toHaveLength(1)
      expect(await other.get(key('a'))).toBe(`new ${answers.indexOf(true)}`)
      expect(await other.add(recordOf('b'), bounds)).toBe('full')
      await sleep(350)
      expect(await other.get(key('a'))).toBeDefined()
      await other.replace({ ...next, value: 'last', forMs: 100 }, `new ${answers.indexOf(true)}`)
      await sleep(150)
      expect(await one.replace({ ...next, value: 'too late' }, 'last')).toBe(false)
    })

    test('any text can be an id, an owner and a value', async () => {
      const [one, other] = await open()
      const odd = `'"; DROP TABLE records; -- \u{1f600} ${'x'.repeat(10_000)}`
      expect(await one.add(recordOf(odd, { owner: odd, value: odd }))).toBe('added')
      expect(await other.get(key(odd))).toBe(odd)
      expect(await other.get(key(odd.toLowerCase()))).toBeUndefined()
    })

    test('a used token is used on all servers until it is given back', async () => {
      const [one, other] = (await open()).map((records) => createUsedTokens(records))
      if (!one || !other) throw new Error('two servers')
      const use = { nonce: 'n', owner: 'me', expiresAt: Date.now() + 60_000, validMs: 60_000 }
      expect(await one.isUsed('n')).toBe(false)
      expect(await one.use(use)).toBe('used now')
      expect(await other.isUsed('n')).toBe(true)
      expect(await other.use(use)).toBe('used before')
      await one.giveBack('n')
      expect(await other.use(use)).toBe('used now')
    })

    test('a cancelled task is cancelled on all servers, for its owner only', async () => {
      const [one, other] = (await open()).map((records) =>
        createCancelledTasks({ records, broadcast: createLocalBroadcast() }, 1000),
      )
      if (!one || !other) throw new Error('two servers')
      await one.add('me', 'task')
      await one.add('me', 'task')
      expect(await other.has('me', 'task')).toBe(true)
      expect(await other.has('you', 'task')).toBe(false)
      expect(await other.has('me', 'another')).toBe(false)
    })
  })
}
