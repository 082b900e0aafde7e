import { expect, test } from 'vitest'
import { isTimeZone } from '../../src/text/time-zone.ts'

test('zones are those of the system, and offsets are no zones', () => {
  expect(['UTC', 'Europe/Berlin', 'europe/berlin'].every(isTimeZone)).toBe(true)
  expect(['', '+02:00', '-05', 'Mars/Olympus'].some(isTimeZone)).toBe(false)
})
