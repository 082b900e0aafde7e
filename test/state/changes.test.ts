import { expect, test } from 'vitest'
import { createCancelledTasks } from '../../src/state/cancelled-tasks.ts'
import { createLocalChanges } from '../../src/state/changes.ts'
import { createMemoryRecords } from '../../src/state/memory/memory-records.ts'
import type { Records } from '../../src/state/records.ts'
import { StateError } from '../../src/state/state-error.ts'
import { describeChanges } from './conformance/changes.ts'

describeChanges('in one process', async () => {
  const changes = createLocalChanges()
  return [changes, changes]
})

test('a cancelled task that a server has heard of stays cancelled while the records cannot be read', async () => {
  const changes = createLocalChanges()
  const records = createMemoryRecords()
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
