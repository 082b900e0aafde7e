import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import { createSqliteState } from '../../src/state/sqlite/sqlite-state.ts'
import type { State } from '../../src/state/state.ts'
import { scratchFolder } from '../harness/program.ts'

const identity = { owner: 'me', formerOwners: [], content: 'a call', externalId: undefined }
const key = { kind: 'used_token', id: 'a', owner: 'me', value: '', forMs: 60_000 } as const

/** Files of the state, and what uses each. */
const files: readonly (readonly [file: string, use: (state: State) => Promise<unknown>])[] = [
  ['calls.db', async (state) => (await state.journal()).claim(identity)],
  ['dialled.db', (state) => state.callCounter.reserve({ max_per_day: 5 }, 1000)],
  ['records.db', (state) => state.records.add(key)],
]

describe.each(files)('%s', (file, use) => {
  const open = (folder: string) =>
    createSqliteState({ folder, setting: '--state-dir', isSandbox: false })
  const versionIn = (folder: string) => {
    using db = new DatabaseSync(join(folder, file))
    return db.prepare('PRAGMA user_version').get()
  }

  test('is made by one of eight programs that start together', async () => {
    using folder = scratchFolder()
    const states = Array.from({ length: 8 }, () => open(folder.path))
    const done = await Promise.all(states.map(use))
    expect(done).toHaveLength(8)
    for (const state of states) await state.close()
  })

  test('of a newer version is refused in plain words, and left as it is', async () => {
    using folder = scratchFolder()
    const before = open(folder.path)
    await use(before)
    await before.close()
    const newer = new DatabaseSync(join(folder.path, file))
    newer.exec('PRAGMA user_version = 99')
    newer.close()
    const older = open(folder.path)
    await expect(use(older)).rejects.toThrow(/another version \(99, not \d+\)/)
    if (file === 'calls.db')
      await expect(use(older)).rejects.toThrow(/Start the version that wrote it, or name another/)
    await older.close()
    expect(versionIn(folder.path)).toEqual({ user_version: 99 })
  })
})
