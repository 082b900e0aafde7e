import { setTimeout as sleep } from 'node:timers/promises'
import { Tally } from '../measure/report.ts'
import { agentId } from '../platform/call-lists.ts'
import { realTime, serveOverHttp } from '../platform/over-http.ts'
import { faultyPost, faultyRead, type Reaction } from '../platform/reaction.ts'
import { type PlatformRequest, SimulatedPlatform } from '../platform/simulated-platform.ts'
import { randomOf } from '../random.ts'

/** Maximum delay of a call that rings and is listed late, ms; well before it may be sent again. */
const lateForMs = 3100

/** A platform with random faults. */
export async function startFaultyPlatform(seed: number) {
  const faults = new Tally()
  const reads = randomOf(seed, 'reads')
  const platform = new SimulatedPlatform({
    time: realTime,
    lateForMs,
    lastsMs: () => 3_600_000,
    onPost(number, nth) {
      const random = randomOf(seed, number, nth)
      const reaction = random() < 0.4 ? undefined : soon(faultyPost(random))
      faults.add(reaction ? `acts ${reaction.acts}, ${reaction.answer}` : 'well')
      return reaction
    },
    onOther: () => faultyRead(reads, { rate: 0.2, slowestMs: 150 }),
    reply: stressAccount,
  })
  const server = await serveOverHttp(() => platform)
  return {
    ...server,
    platform,
    /** Number of requests to place a call, by fault. */
    faults: () => faults.all(),
    /** Resolves when no request can take effect any more. */
    settled: () => sleep(lateForMs),
  }
}

/** A platform that answers correctly after `answerMs`; every call has ended at once. */
export async function startSlowPlatform(answerMs: number) {
  const slowly = (): Reaction => ({ acts: 'now', answer: 'well', answerMs, lateness: 0 })
  const platform = new SimulatedPlatform({
    time: realTime,
    lateForMs: 0,
    lastsMs: () => 0,
    onPost: slowly,
    onOther: slowly,
    reply: stressAccount,
  })
  return { ...(await serveOverHttp(() => platform)), platform }
}

/** Makes a reaction answer at once or, for a slow one, after the servers' timeout of 0.5 s. */
const soon = (reaction: Reaction): Reaction => ({
  ...reaction,
  answerMs: reaction.answerMs > 2000 ? 700 : 5,
})

/** Replies for the account of all placements and its agent. */
function stressAccount({ url: { pathname } }: PlatformRequest): unknown {
  if (pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
  return pathname.includes('/agents/') ? { id: agentId, name: 'Stress' } : undefined
}
