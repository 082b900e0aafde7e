import { randomUUID } from 'node:crypto'
import type { CallCounter, PlatformCall } from '../call-counter.ts'
import { type CallCounts, exceededLimit, longestWindow } from '../call-limits.ts'
import type { CallKey } from '../journal.ts'

interface CountedCall {
  readonly at: number
  /** 0: the call has ended. */
  leaseEnd: number
  readonly call?: CallKey | undefined
  placed?: PlatformCall
}

/** A call counter of this process alone, which ends with it. No method pauses, so each is atomic. */
export function createMemoryCallCounter(now: () => number = Date.now): CallCounter {
  const calls = new Map<string, CountedCall>()
  const counts = countsIn(calls)
  return {
    check: async (limits) => exceededLimit(limits, now(), counts),
    reserve: async (limits, leaseMs, call) => {
      const at = now()
      for (const [id, call] of calls) {
        if (call.at <= at - longestWindow && call.leaseEnd <= at) calls.delete(id)
      }
      const exceeded = exceededLimit(limits, at, counts)
      if (exceeded) return { exceeded }
      const id = randomUUID()
      calls.set(id, { at, leaseEnd: at + leaseMs, call })
      return { id }
    },
    pending: async ({ owner, externalId }) =>
      [...calls].flatMap(([id, { leaseEnd, call, placed }]) =>
        leaseEnd > 0 && !placed && call?.owner === owner && call.externalId === externalId
          ? [id]
          : [],
      ),
    placed: async (id, placed) => {
      const call = calls.get(id)
      if (call) call.placed = placed
    },
    open: async (owner, withinMs) =>
      [...calls].flatMap(([id, { at, leaseEnd, placed }]) =>
        leaseEnd > 0 && at > now() - withinMs && placed?.owner === owner
          ? [{ id, callId: placed.callId }]
          : [],
      ),
    renew: async (id, leaseMs) => {
      const call = calls.get(id)
      if (call && call.leaseEnd > 0) call.leaseEnd = now() + leaseMs
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
