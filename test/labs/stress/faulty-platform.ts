import { setTimeout as sleep } from 'node:timers/promises'
import { realTime, serveOverHttp } from '../platform/over-http.ts'
import { type PlatformRequest, SimulatedPlatform } from '../platform/simulated-platform.ts'
import { faultyPost, faultyRead, type Turn } from '../platform/turn.ts'
import { randomOf, Tally } from '../random.ts'

/** The agent that every call is placed with. */
export const agentId = '00000000-0000-4000-8000-00000000a6e7'

/** Within which time a late call rings and is listed, ms: well before it may be sent again. */
const lateForMs = 3100

export interface FaultyPlatform extends AsyncDisposable {
  readonly url: string
  readonly platform: SimulatedPlatform
  /** How often it did what with a request to place a call, by name. */
  faults(): Record<string, number>
  /** Resolves when no request is left that it may still act on. */
  settled(): Promise<void>
}

/** A platform with random faults. */
export async function startFaultyPlatform(seed: number): Promise<FaultyPlatform> {
  const faults = new Tally()
  const reads = randomOf(seed, 'reads')
  const platform = new SimulatedPlatform({
    time: realTime,
    lateForMs,
    lastsMs: () => 3_600_000,
    onPost(number, nth) {
      const random = randomOf(seed, number, nth)
      const turn = random() < 0.4 ? undefined : soon(faultyPost(random))
      faults.add(turn ? `acts ${turn.acts}, ${turn.answer}` : 'well')
      return turn
    },
    onOther: () => faultyRead(reads, { rate: 0.2, slowestMs: 150 }),
    reply: stressAccount,
  })
  const server = await serveOverHttp(() => platform)
  return {
    url: server.url,
    platform,
    faults: () => faults.all(),
    settled: () => sleep(lateForMs),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

/** Answers come at once or not at all: these servers wait for half a second. */
const soon = (turn: Turn): Turn => ({ ...turn, answerMs: turn.answerMs > 2000 ? 700 : 5 })

/** The account of all placements, which has one agent. */
export function stressAccount({ url: { pathname } }: PlatformRequest): unknown {
  if (pathname.endsWith('/accounts/current')) return { id: 'stress', name: 'Stress' }
  return pathname.includes('/agents/') ? { id: agentId, name: 'Stress' } : undefined
}
