import { randomUUID } from 'node:crypto'
import type { CallCounter, PlatformCall } from '../call-counter.ts'
import { type CallCounts, exceededLimit, longestWindow } from '../call-limits.ts'

interface CountedCall {
  readonly at: number
  /** 0: the call has ended. */
  leaseEnd: number
  placed?: PlatformCall
}

/** A call counter of this process alone, which ends with it. No method pauses, so each is atomic. */
export function createMemoryCallCounter(): CallCounter {
  const calls = new Map<string, CountedCall>()
  const counts = countsIn(calls)
  return {
    check: async (limits, now) => exceededLimit(limits, now, counts),
    reserve: async (limits, now, leaseEnd) => {
      for (const [id, call] of calls) {
        if (call.at <= now - longestWindow && call.leaseEnd <= now) calls.delete(id)
      }
      const exceeded = exceededLimit(limits, now, counts)
      if (exceeded) return { exceeded }
      const id = randomUUID()
      calls.set(id, { at: now, leaseEnd })
      return { id }
    },
    placed: async (id, placed) => {
      const call = calls.get(id)
      if (call) call.placed = placed
    },
    open: async (owner, since) =>
      [...calls].flatMap(([id, { at, leaseEnd, placed }]) =>
        leaseEnd > 0 && at > since && placed?.owner === owner
          ? [{ id, callId: placed.callId, at }]
          : [],
      ),
    renew: async (id, leaseEnd) => {
      const call = calls.get(id)
      if (call && call.leaseEnd > 0) call.leaseEnd = leaseEnd
    },
    release: async (id) => {
      const call = calls.get(id)
      if (call) call.leaseEnd = 0
    },
    cancel: async (id) => void calls.delete(id),
    close: async () => calls.clear(),
  }
}

const countsIn = (calls: ReadonlyMap<string, CountedCall>): CallCounts => ({
  nthNewest: (nth, since) =>
    [...calls.values()]
      .map(({ at }) => at)
      .filter((at) => at > since)
      .sort((one, other) => other - one)[nth - 1],
  underWay: (now) => [...calls.values()].filter(({ leaseEnd }) => leaseEnd > now).length,
})
