import { expect, test } from 'vitest'
import { createLocalBroadcast } from '../../src/state/broadcast.ts'
import type { Records } from '../../src/state/records.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { StateError } from '../../src/state/state-access.ts'
import { createCancelledTasks } from '../../src/tool/task.ts'
import { describeBroadcast } from './conformance/broadcast.ts'

describeBroadcast('in one process', async () => {
  const broadcast = createLocalBroadcast()
  return [broadcast, broadcast]
})

test('a server that was told of a cancelled task knows it while the records are unreadable', async () => {
  const broadcast = createLocalBroadcast()
  const records = createSqliteRecords(':memory:', '--state-dir')
  const unreadable: Records = {
    ...records,
    get: async () => {
      throw new StateError('The records cannot be read.')
    },
  }
  const one = createCancelledTasks({ records, broadcast }, 1000)
  const other = createCancelledTasks({ records: unreadable, broadcast }, 1000)
  await expect(other.has('me', 'task')).rejects.toThrow(StateError)
  await one.add('me', 'task')
  expect(await other.has('me', 'task')).toBe(true)
  await expect(other.has('you', 'task')).rejects.toThrow(StateError)
})
