import { expect, test, vi } from 'vitest'
import { createCallBatches } from '../../src/state/call-batches.ts'
import { sameInBatchMs } from '../../src/state/call-journal.ts'
import { createSqliteRecords } from '../../src/state/sqlite/sqlite-records.ts'

const calls = ['call-1', 'call-2']

test('only the owner finds a batch by its id', async () => {
  const batches = createCallBatches(createSqliteRecords(':memory:', '--state-dir'))
  const id = String(await batches.save('one', calls))
  expect(id).toMatch(/^batch-[0-9a-f]{12}$/)
  expect(await batches.find('one', id)).toEqual(calls)
  expect(await batches.find('other', id)).toBeUndefined()
  expect(await batches.find('one', `${id}0`)).toBeUndefined()
})

test('the batch id depends on the owner and on the calls in their order', async () => {
  const batches = createCallBatches(createSqliteRecords(':memory:', '--state-dir'))
  const ids = [
    await batches.save('one', calls),
    await batches.save('one', calls),
    await batches.save('one', calls.toReversed()),
    await batches.save('one', calls.slice(1)),
    await batches.save('other', calls),
  ]
  expect(ids[1]).toBe(ids[0])
  expect(new Set(ids).size).toBe(4)
})

test('beyond the bounds there is no batch id, and stored batches stay', async () => {
  const batches = createCallBatches(createSqliteRecords(':memory:', '--state-dir'), {
    inAll: 2,
    perOwner: 1,
  })
  const id = String(await batches.save('one', calls))
  expect(await batches.save('one', ['call-3'])).toBeUndefined()
  expect(await batches.save('other', ['call-3'])).toBeDefined()
  expect(await batches.save('third', ['call-4'])).toBeUndefined()
  expect(await batches.save('one', calls)).toBe(id)
  expect(await batches.find('one', id)).toEqual(calls)
})

test('a batch that is saved again at the last moment is found for another such period', async () => {
  vi.useFakeTimers()
  try {
    const batches = createCallBatches(createSqliteRecords(':memory:', '--state-dir'))
    const id = String(await batches.save('one', calls))
    vi.advanceTimersByTime(sameInBatchMs - 1)
    expect(await batches.save('one', calls)).toBe(id)
    vi.advanceTimersByTime(sameInBatchMs - 1)
    expect(await batches.find('one', id)).toEqual(calls)
  } finally {
    vi.useRealTimers()
  }
})
