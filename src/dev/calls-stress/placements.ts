import { setTimeout as sleep } from 'node:timers/promises'
import { classifyNumber } from '../../policy/number-class.ts'
import { agentId } from './platform.ts'
import { randomOf } from './random.ts'
import type { Answer, Server } from './servers.ts'

/** One call that somebody wants, and what they were told of it. */
export interface Placement {
  readonly number: string
  readonly externalId: string | undefined
  readonly args: Record<string, unknown>
  readonly random: () => number
  /** What was told at each try, by each server that was asked. */
  readonly tries: Answer[][]
}

/** Beginnings of ordinary numbers, and how many digits follow. */
const ranges = [
  ['+4915112', 6],
  ['+44740012', 4],
  ['+33612', 6],
  ['+121223', 5],
] as const

/** As many placements as wanted, each to a number of its own; half have an external id. */
export function placementsOf(count: number, seed: number): Placement[] {
  const perRange = Math.ceil(count / ranges.length)
  const numbers = ranges.flatMap(([start, digits]) =>
    Array.from({ length: perRange }, (_, index) => start + String(index).padStart(digits, '0')),
  )
  return numbers.slice(0, count).map((number, index) => {
    if (classifyNumber(number).kind !== 'ordinary') throw new Error(`${number} is not called`)
    const random = randomOf(seed, number)
    const externalId = random() < 0.5 ? `stress-${seed}-${index}` : undefined
    const args = {
      type: 'phone',
      agent_id: agentId,
      from_number: '+12025550110',
      to_number: number,
      ...(externalId !== undefined && { external_id: externalId }),
    }
    return { number, externalId, args, random, tries: [] }
  })
}

/** The longest that a client waits before it asks again, ms. */
const longestPauseMs = 1500

/**
 * What an automated workflow does: it repeats the identical request until it is told something
 * definite or gives up; some give up soon. It never gives up on a server that did not answer.
 */
export async function place(
  placement: Placement,
  servers: readonly Server[],
  mostTries: number,
): Promise<void> {
  const { random, tries } = placement
  const patience = random() < 0.1 ? 1 : mostTries
  for (;;) {
    const answers = await deliver(placement, servers)
    tries.push(answers)
    const { kind } = lastWord(placement)
    if (kind === 'placed' || kind === 'repeated') return
    if (kind !== 'dead' && tries.length >= patience) return
    // What was refused is tried again now and then: the platform may have had a bad moment.
    if (kind === 'refused' && random() < 0.5) return
    await sleep(random() * longestPauseMs)
  }
}

/** Asks one server; now and then the request is delivered twice, to the same or to both. */
async function deliver({ args, random }: Placement, servers: readonly Server[]): Promise<Answer[]> {
  const count = random() < 0.15 ? 2 : 1
  const one = () => servers[Math.floor(random() * servers.length)]
  const asked = Array.from({ length: count }, one).filter((server) => server !== undefined)
  return Promise.all(asked.map((server) => server.place(args)))
}

/** Of several answers to the last try, the one that a workflow goes by. */
export function lastWord({ tries }: Placement): Answer {
  const answers = tries.at(-1) ?? []
  const ranks = ['placed', 'repeated', 'dead', 'unknown', 'refused'] as const
  const [best] = answers.toSorted((a, b) => ranks.indexOf(a.kind) - ranks.indexOf(b.kind))
  return best ?? { kind: 'dead' }
}
