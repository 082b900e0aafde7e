import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sealingKeysFrom } from '../../src/state/sealing.ts'
import { createSqliteUndoStore } from '../../src/state/sqlite/sqlite-undo-store.ts'
import { StateError } from '../../src/state/state-access.ts'
import { createUndoLog, type UndoStore, undoBounds } from '../../src/state/undo-log.ts'
import { scratchFolder } from '../harness/program.ts'
import { describeUndoStore } from './conformance/undo-store.ts'
import { openTwice } from './shared-file.ts'

const setting = '--state-dir'
const inMemory = () => createSqliteUndoStore(':memory:', setting)

describeUndoStore('in memory', async () => {
  const store = inMemory()
  return [store, store]
})

describeUndoStore('in a file', async () =>
  openTwice((file) => createSqliteUndoStore(file, setting)),
)

const keys = (...secrets: [string, ...string[]]) => sealingKeysFrom(async () => secrets)
const bounds = { ...undoBounds.stored, maxAgeMs: 60_000 }
const agent = (id: string, ...[before]: unknown[]) => ({
  ...({ kind: 'agent', account: 'acme', id } as const),
  paths: [{ path: ['note'], before, after: 'b' }],
})

describe('the log of changes', () => {
  test('stores each object of a change as sent, then as in the reply', async () => {
    const log = createUndoLog(inMemory(), keys('secret'), bounds)
    const change = log.begin('me')
    const [one, other] = [await change.add(agent('1')), await change.add(agent('2'))]
    if (one === 'too_large' || other === 'too_large') throw new Error('small')
    const states = async () =>
      (await log.find('me', change.change))?.objects.map(({ state }) => state)
    expect(await states()).toEqual(['sent', 'sent'])
    one.settle('done', [{ path: ['note'], before: 'a', after: 'of the reply' }])
    other.settle('not_done', [])
    await change.flush()
    expect(await states()).toEqual(['done', 'not_done'])
    expect(await log.ofObject('me', { kind: 'agent', id: '1' })).toMatchObject([
      { change: change.change, paths: [{ before: 'a', after: 'of the reply' }] },
    ])
    expect(await log.ofObject('me', { kind: 'agent', id: '2' })).toEqual([])
  })

  test('distinguishes an absent value from null', async () => {
    const log = createUndoLog(inMemory(), keys('secret'), bounds)
    const change = log.begin('me')
    await change.add(agent('1', undefined))
    await change.add(agent('2', null))
    const found = await log.find('me', change.change)
    expect(found?.objects.map(({ paths: [first] }) => first?.before)).toEqual([undefined, null])
  })

  test('writes the objects of a large change together', async () => {
    const store = inMemory()
    const counts = { add: 0, settle: 0 }
    const counted: UndoStore = {
      ...store,
      async add(...given) {
        counts.add++
        await store.add(...given)
      },
      async settle(...given) {
        counts.settle++
        await store.settle(...given)
      },
    }
    const change = createUndoLog(counted, keys('secret'), bounds).begin('me')
    const worker = async () => {
      for (let i = 0; i < 12; i++) {
        const added = await change.add(agent(String(i)))
        if (added !== 'too_large') added.settle('done', [])
      }
    }
    await Promise.all(Array.from({ length: 8 }, worker))
    await change.flush()
    expect(counts.add).toBeLessThanOrEqual(15)
    expect(counts.settle).toBeLessThanOrEqual(15)
  })

  test('is readable with the current and the earlier secret only', async () => {
    const store = inMemory()
    const change = createUndoLog(store, keys('first'), bounds).begin('me')
    await change.add(agent('1'))
    const rotated = createUndoLog(store, keys('second', 'first'), bounds)
    expect((await rotated.find('me', change.change))?.objects).toHaveLength(1)
    const replaced = createUndoLog(store, keys('second'), bounds)
    expect(await replaced.find('me', change.change)).toBeUndefined()
  })

  test('is readable for its owner only, even if a store mixes owners up', async () => {
    const store = inMemory()
    const change = createUndoLog(store, keys('secret'), bounds).begin('me')
    await change.add(agent('1'))
    const mixed: UndoStore = {
      ...store,
      ofChange: (key, within) => store.ofChange({ ...key, owner: 'me' }, within),
    }
    const log = createUndoLog(mixed, keys('secret'), bounds)
    expect((await log.find('me', change.change))?.objects).toHaveLength(1)
    expect(await log.find('other', change.change)).toBeUndefined()
  })

  test('stores no object that is too large, and marks the change as partial', async () => {
    const log = createUndoLog(inMemory(), keys('secret'), bounds)
    const change = log.begin('me')
    expect(await change.add(agent('1', 'x'.repeat(100_000)))).toBe('too_large')
    await change.add(agent('2'))
    expect(await log.find('me', change.change)).toMatchObject({
      objects: [{ id: '2' }],
      isPartial: true,
    })
  })

  test('is readable by its user only, and holds no text in clear', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'undo.db')
    const store = createSqliteUndoStore(file, setting)
    const change = createUndoLog(store, keys('secret'), bounds).begin('the owner')
    await change.add(agent('the object', 'the earlier value'))
    await store.close()
    const bytes = readFileSync(file, 'latin1')
    for (const text of ['the owner', 'the object', 'the earlier value', change.change])
      expect(bytes).not.toContain(text)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('names an unusable file in the error', async () => {
    const store = createSqliteUndoStore('/dev/null/undo.db', setting)
    const change = createUndoLog(store, keys('secret'), bounds).begin('me')
    const failed = change.add(agent('1'))
    await expect(failed).rejects.toThrow(StateError)
    await expect(failed).rejects.toThrow('/dev/null/undo.db')
  })
})
