import { expect, test } from 'vitest'
import { openOnce } from '../../src/state/state-access.ts'

test('concurrent users open a resource once, and reopen it after it was closed', async () => {
  let opened = 0
  const file = openOnce(async () => ++opened)
  expect(await Promise.all([file.get(), file.get(), file.get()])).toEqual([1, 1, 1])
  const closed: number[] = []
  await file.close((one) => void closed.push(one))
  await file.close((one) => void closed.push(one))
  expect(closed).toEqual([1])
  expect(await file.get()).toBe(2)
})

test('a resource that failed to open is opened again at the next use', async () => {
  let tries = 0
  const file = openOnce(async () => {
    if (++tries === 1) throw new Error('locked')
    return tries
  })
  const first = [file.get(), file.get()]
  for (const one of first) await expect(one).rejects.toThrow('locked')
  expect(await Promise.all([file.get(), file.get()])).toEqual([2, 2])
})
