import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { round } from '../measure/report.ts'

/** Does something while it asks a server for its health; the longest answer to that, ms. */
export async function healthDuring(url: string, work: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let isOver = false
  const askForHealth = async () => {
    while (!isOver) {
      const began = performance.now()
      const { status } = await fetch(new URL('/health', url))
      assert.equal(status, 200)
      longest = Math.max(longest, performance.now() - began)
      await sleep(20)
    }
  }
  const working = work().finally(() => {
    isOver = true
  })
  await Promise.all([working, askForHealth()])
  return round(longest, 0)
}

/** Waits until `isSo` says yes; fails when it does not after some seconds. */
export async function eventually(
  what: string,
  isSo: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> {
  const end = performance.now() + seconds * 1000
  while (!(await isSo())) {
    assert.ok(performance.now() < end, `Not after ${seconds} s: ${what}`)
    await sleep(50)
  }
}
