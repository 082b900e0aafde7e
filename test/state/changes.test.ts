import { expect, test } from 'vitest'
import { createLocalChanges } from '../../src/state/changes.ts'
import type { Records } from '../../src/state/records.ts'
import { createCancelledTasks } from '../../src/state/records.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'
import { StateError } from '../../src/state/state-access.ts'
import { describeChanges } from './conformance/changes.ts'

describeChanges('in one process', async () => {
  const changes = createLocalChanges()
  return [changes, changes]
})

test('a cancelled task that a server has heard of stays cancelled while the records cannot be read', async () => {
  const changes = createLocalChanges()
  const records = createSqliteRecords(':memory:', '--state-dir')
  const unreadable: Records = {
    ...records,
    get: async () => {
      throw new StateError('The records cannot be read.')
    },
  }
  const one = createCancelledTasks({ records, changes }, 1000)
  const other = createCancelledTasks({ records: unreadable, changes }, 1000)
  await expect(other.has('me', 'task')).rejects.toThrow(StateError)
  await one.add('me', 'task')
  expect(await other.has('me', 'task')).toBe(true)
  await expect(other.has('you', 'task')).rejects.toThrow(StateError)
})
