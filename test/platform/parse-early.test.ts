import fc from 'fast-check'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { parseEarly } from '../../src/platform/reply.ts'
import { tries } from '../harness/property.ts'

const Page = z.looseObject({
  items: z.array(z.looseObject({ id: z.string(), messages: z.array(z.string()).nullish() })),
})
const good = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `id ${at}` }))
const bad = (count: number) => Array.from({ length: count }, () => ({ id: 1 }))

test('of 149,000 wrong items, only the problems of the first 100 are collected', () => {
  const { error } = parseEarly(Page, { items: bad(149_000) })
  expect(error?.issues).toHaveLength(100)
  expect(error?.issues[0]?.path).toEqual(['items', 0, 'id'])
})

test('wrong items behind good ones are found soon after the first', () => {
  const { error } = parseEarly(Page, { items: [...good(5000), ...bad(144_000)] })
  expect(error?.issues[0]?.path).toEqual(['items', 5000, 'id'])
  expect(error?.issues.length).toBeLessThan(4 * 5000)
})

test('arrays within items are parsed in steps, too', () => {
  const messages = Array.from({ length: 149_000 }, (_, at) => at)
  const { error } = parseEarly(Page, { items: [{ id: 'a', messages }] })
  expect(error?.issues).toHaveLength(100)
})

test('a valid value is parsed whole, as by zod', () => {
  const item = fc.record(
    { id: fc.oneof({ weight: 999, arbitrary: fc.string() }, fc.integer()), more: fc.json() },
    { requiredKeys: ['id'] },
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 600, size: 'max' }), (items) => {
      const early = parseEarly(Page, { items })
      const whole = Page.safeParse({ items })
      expect(early.success).toBe(whole.success)
      expect(early.data).toEqual(whole.data)
      expect(early.error?.issues[0]).toEqual(whole.error?.issues[0])
    }),
    tries(30),
  )
})
