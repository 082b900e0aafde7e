import { expect, test } from 'vitest'
import { isTimeZone } from '../../src/text/time-zone.ts'

test('a time zone is one that Intl knows, and an offset is none', () => {
  expect(['UTC', 'Europe/Berlin', 'europe/berlin'].every(isTimeZone)).toBe(true)
  expect(['', '+02:00', '-05', 'Mars/Olympus'].some(isTimeZone)).toBe(false)
})
