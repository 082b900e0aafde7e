import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { classifyNumber } from '../../../src/policy/number-class.ts'
import { errorOf, type ToolResult } from '../../harness/client.ts'
import { textOf } from '../measure/clients.ts'
import { agentId } from '../platform/call-lists.ts'
import { oneOf, randomOf } from '../random.ts'

/** Answer to a request to place a telephone call. */
export type Answer =
  | { readonly kind: 'placed'; readonly callId: string; readonly isRepeat: boolean }
  | { readonly kind: 'unknown'; readonly text: string }
  | { readonly kind: 'refused'; readonly why: string; readonly text: string }
  /** No answer: the server was killed. */
  | { readonly kind: 'dead' }

/** A server, or several behind one address, that place calls. */
export interface CallPlacer {
  place(args: Record<string, unknown>): Promise<Answer>
}

const PlacedCall = z.looseObject({ id: z.string(), repeated: z.boolean() })

/** Parses a result of place_call. */
export function answerOf(result: ToolResult): Answer {
  if (!result.isError) {
    const { id, repeated } = PlacedCall.parse(result.structuredContent)
    return { kind: 'placed', callId: id, isRepeat: repeated }
  }
  const text = textOf(result)
  const { kind } = errorOf(result)
  return kind === 'unknown_outcome'
    ? { kind: 'unknown', text }
    : { kind: 'refused', why: kind, text }
}

/** A wanted call, and all answers that its client got. */
export interface StressPlacement {
  readonly number: string
  readonly externalId: string | undefined
  readonly args: Record<string, unknown>
  readonly random: () => number
  /** Answers of each try, with the time of the request. A try may send the request twice. */
  readonly tries: { readonly answer: Answer; readonly from: number }[][]
}

/** Prefixes of ordinary phone numbers, and the number of further digits. */
const ranges = [
  ['+4915112', 6],
  ['+44740012', 4],
  ['+33612', 6],
  ['+121223', 5],
] as const

/** Creates placements to different numbers, from the nth on; half of them have an external id. */
export function placementsOf(count: number, seed: number, from = 0): StressPlacement[] {
  return Array.from({ length: count }, (_, at) => {
    const nth = from + at
    const [start, digits] = ranges[nth % ranges.length] ?? ranges[0]
    const number = start + String(Math.floor(nth / ranges.length)).padStart(digits, '0')
    if (classifyNumber(number).kind !== 'ordinary')
      throw new Error(`${number} is no ordinary number`)
    const random = randomOf(seed, number)
    const externalId = random() < 0.5 ? `stress-${seed}-${nth}` : undefined
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

/** Longest pause before a client repeats a request, ms. */
const longestPauseMs = 1500

/**
 * Places a call as an automated workflow does: repeats the request until the answer is definite.
 * One client in ten gives up after the first try, but never while there is no answer.
 */
export async function place(
  placement: StressPlacement,
  servers: readonly CallPlacer[],
  maxTries: number,
): Promise<void> {
  const { random, tries } = placement
  const triesBeforeGivingUp = random() < 0.1 ? 1 : maxTries
  for (;;) {
    tries.push(await deliver(placement, servers))
    const { kind } = finalAnswer(placement)
    if (kind === 'placed') return
    if (kind !== 'dead' && tries.length >= triesBeforeGivingUp) return
    // A refusal may be due to a failure of the platform, so half of them are repeated.
    if (kind === 'refused' && random() < 0.5) return
    await sleep(random() * longestPauseMs)
  }
}

/** Sends the request to a random server; in 15 % of the tries twice, to the same or another one. */
async function deliver(
  { args, random }: StressPlacement,
  servers: readonly CallPlacer[],
): Promise<StressPlacement['tries'][number]> {
  const count = random() < 0.15 ? 2 : 1
  const receivers = Array.from({ length: count }, () => oneOf(servers, random))
  const from = performance.now()
  return Promise.all(receivers.map(async (server) => ({ answer: await server.place(args), from })))
}

export const isPlaced = (placement: StressPlacement): boolean =>
  finalAnswer(placement).kind === 'placed'

/** The most definite answer of the last try. */
export function finalAnswer({ tries }: StressPlacement): Answer {
  const answers = (tries.at(-1) ?? []).map(({ answer }) => answer)
  const ranks = ['placed', 'dead', 'unknown', 'refused'] as const
  const [best] = answers.toSorted((a, b) => ranks.indexOf(a.kind) - ranks.indexOf(b.kind))
  return best ?? { kind: 'dead' }
}
