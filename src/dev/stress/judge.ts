import type { RungCall } from './faulty-platform.ts'
import type { Answer } from './killed-server.ts'
import { finalAnswer, type StressPlacement } from './placements.ts'
import { Tally } from './random.ts'

/** What the clients learned, beside what the platform did. */
export interface StressVerdict {
  /** The final answers and whether the telephone rang: `placed, rung once`. */
  readonly outcomes: Record<string, number>
  /** Reasons of refused requests, of all tries. */
  readonly refusals: Record<string, number>
  readonly deliveredTwice: number
  readonly rungTwice: number
  readonly lost: number
  /** Everything that is not as promised, by number. */
  readonly violations: readonly string[]
}

export function judge(
  placements: readonly StressPlacement[],
  rung: ReadonlyMap<string, readonly RungCall[]>,
): StressVerdict {
  const outcomes = new Tally()
  const refusals = new Tally()
  for (const placement of placements) {
    const times = rung.get(placement.number)?.length ?? 0
    const { kind } = finalAnswer(placement)
    outcomes.add(`${kind}, ${['not rung', 'rung once'][times] ?? 'rung twice'}`)
    for (const answer of placement.tries.flat()) {
      if (answer.kind === 'refused') refusals.add(answer.why)
    }
  }
  const violations = placements.flatMap((placement) =>
    violationsOf(placement, rung.get(placement.number) ?? []).map(
      (violation) => `${placement.number}: ${violation}`,
    ),
  )
  const count = (pattern: RegExp) => violations.filter((text) => pattern.test(text)).length
  return {
    outcomes: outcomes.all(),
    refusals: refusals.all(),
    deliveredTwice: placements.flatMap(({ tries }) => tries).filter((one) => one.length > 1).length,
    rungTwice: count(/: rung twice/),
    lost: count(/: lost/),
    violations,
  }
}

/** What is not as promised for one placement. */
function violationsOf(placement: StressPlacement, calls: readonly RungCall[]): string[] {
  const answers = placement.tries.flat()
  const history = `; answers: ${answers.map(({ kind }) => kind).join(', ')}`
  const found = answers.flatMap((answer) => violationIn(answer, placement, calls) ?? [])
  const final = finalAnswer(placement)
  if (calls.length > 1) found.push(`rung twice${history}`)
  if (final.kind === 'refused' && calls.length > 0)
    found.push(`lost: rung and refused, ${final.text}${history}`)
  return [...new Set(found)]
}

function violationIn(
  answer: Answer,
  placement: StressPlacement,
  calls: readonly RungCall[],
): string | undefined {
  switch (answer.kind) {
    case 'placed':
    case 'repeated':
      if (calls.length === 0) return 'lost: answered as placed, but no telephone rang'
      if (calls.some(({ id }) => id === answer.callId)) return undefined
      return 'the platform has no call with the id of the answer'
    case 'unknown':
      return saysUnknown(answer.text, placement)
        ? undefined
        : `unknown, in other words than promised: ${answer.text}`
    case 'refused':
      return answer.why === 'internal' ? answer.text : undefined
    case 'dead':
      return undefined
  }
}

/** True when the error says that the outcome is not known, and how to look for the call. */
const saysUnknown = (text: string, { externalId }: StressPlacement) =>
  text.includes('NOT KNOWN') &&
  /list_calls/.test(text) &&
  (externalId === undefined ? /external_id auto-/.test(text) : text.includes(externalId))
