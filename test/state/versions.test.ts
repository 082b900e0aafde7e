import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createSqliteState } from '../../src/state/sqlite/sqlite-state.ts'
import type { State } from '../../src/state/state.ts'
import { undoBounds } from '../../src/state/undo-log.ts'
import { scratchFolder } from '../harness/program.ts'
import { entryOf } from './conformance/audit-trail.ts'

const identity = { owner: 'me', content: 'a call', externalId: undefined, sameForMs: 600_000 }
const key = { kind: 'used_token', id: 'a', owner: 'me', value: '', forMs: 60_000 } as const

/** Files of the state, each with an operation that opens it. */
const files: readonly (readonly [name: string, use: (state: State) => Promise<unknown>])[] = [
  ['calls.db', (state) => state.journal.claim(identity)],
  ['dialled.db', (state) => state.callCounter.reserve({ max_per_day: 5 }, 1000)],
  ['records.db', (state) => state.records.add(key)],
  ['audit.db', (state) => state.audit.save(entryOf('a'))],
  [
    'undo.db',
    (state) =>
      state.undo.add({ owner: 'me', change: randomUUID() }, [{ item: 0, object: 'x', value: '' }], {
        ...undoBounds.stored,
        maxAgeMs: 1000,
      }),
  ],
]

describe.each(files)('%s', (name, use) => {
  const open = (folder: string) =>
    createSqliteState({ folder, setting: '--state-dir', isSandbox: false })
  const versionIn = (folder: string) => {
    using db = new DatabaseSync(join(folder, name))
    return Number(db.prepare('PRAGMA user_version').get()?.user_version)
  }

  test('is created once by eight programs that start together', async () => {
    using folder = scratchFolder()
    const states = Array.from({ length: 8 }, () => open(folder.path))
    const done = await Promise.all(states.map(use))
    expect(done).toHaveLength(8)
    for (const state of states) await state.close()
  })

  test.each([
    ['a newer', 96],
    ['an earlier', -1],
  ])('of %s version is refused in plain words, and left as it is', async (_, by) => {
    using folder = scratchFolder()
    const before = open(folder.path)
    await use(before)
    await before.close()
    const other = versionIn(folder.path) + by
    const file = new DatabaseSync(join(folder.path, name))
    file.exec(`PRAGMA user_version = ${other}`)
    file.close()
    const state = open(folder.path)
    await expect(use(state)).rejects.toThrow(`another version (${other}, not ${other - by})`)
    await expect(use(state)).rejects.toThrow(/\bStart the version\b.*--state-dir\b/)
    await state.close()
    expect(versionIn(folder.path)).toBe(other)
  })
})
