import { describe, expect, test } from 'vitest'
import type { Broadcast } from '../../../src/state/broadcast.ts'

/**
 * Tests that every broadcast must pass. `open`: the broadcasts of two servers that share a state.
 */
export function describeBroadcast(
  name: string,
  open: () => Promise<readonly [Broadcast, Broadcast]>,
): void {
  describe(`events ${name}`, () => {
    test('reach this server at once and the other server later, each event once', async () => {
      const [one, other] = await open()
      const heard: string[] = []
      const heardByOther: string[] = []
      const stop = one.listen('written', (topic) => void heard.push(topic))
      other.listen('written', (topic) => void heardByOther.push(topic))
      other.listen('cancelled_task', (topic) => void heardByOther.push(`task ${topic}`))
      // Announcements before the other server listens may be lost.
      await expect
        .poll(() => {
          one.announce({ kind: 'written', topic: 'first' })
          return heardByOther.length
        })
        .toBeGreaterThan(0)
      heard.length = 0
      one.announce({ kind: 'written', topic: 'second' })
      expect(heard).toEqual(['second'])
      one.announce({ kind: 'cancelled_task', topic: 'third' })
      stop()
      one.announce({ kind: 'written', topic: 'last' })
      await expect
        .poll(() => heardByOther.filter((topic) => topic !== 'first').toSorted())
        .toEqual(['last', 'second', 'task third'])
      expect(heard).toEqual(['second'])
    })
  })
}
