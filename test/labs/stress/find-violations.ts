import { Tally } from '../measure/report.ts'
import { violationsOfCall } from '../platform/judge-call.ts'
import type { SimulatedPlatform } from '../platform/simulated-platform.ts'
import { finalAnswer, type StressPlacement } from './placements.ts'

/** Compares the clients' answers with what the platform did. */
export function judge(placements: readonly StressPlacement[], platform: SimulatedPlatform) {
  const outcomes = new Tally()
  const refusals = new Tally()
  const violations: string[] = []
  const byNumber = Map.groupBy(platform.calls, ({ to_number }) => to_number)
  for (const placement of placements) {
    const { number, tries } = placement
    const calls = byNumber.get(number) ?? []
    const times = calls.filter(({ rings }) => rings).length
    const answers = tries.flat()
    outcomes.add(
      `${finalAnswer(placement).kind}, ${['not rung', 'rung once'][times] ?? 'rung twice'}`,
    )
    for (const { answer } of answers) if (answer.kind === 'refused') refusals.add(answer.why)
    const kinds = answers.map(({ answer }) => answer.kind).join(', ')
    const found = [
      ...violationsOfCall(answers, calls),
      ...answers.flatMap((one) => violationsOfText(one, placement)),
    ]
    for (const wrong of new Set(found)) violations.push(`${number}: ${wrong}; answers: ${kinds}`)
  }
  const count = (pattern: RegExp) => violations.filter((text) => pattern.test(text)).length
  return {
    /** The final answers and whether the telephone rang: `placed, rung once`. */
    outcomes: outcomes.all(),
    /** Reasons of refused requests, of all tries. */
    refusals: refusals.all(),
    deliveredTwice: placements.flatMap(({ tries }) => tries).filter((one) => one.length > 1).length,
    rungTwice: count(/: rung twice/),
    lost: count(/: lost/),
    /** Violations of guarantees, by telephone number. */
    violations,
  }
}

/**
 * Finds answers that report a defect, or an unknown outcome without a hint how to find the call.
 */
function violationsOfText(
  { answer }: StressPlacement['tries'][number][number],
  { externalId = 'auto-' }: StressPlacement,
): string[] {
  if (answer.kind === 'refused' && answer.why === 'internal') return [answer.text]
  if (answer.kind !== 'unknown') return []
  const { text } = answer
  return text.includes(externalId) && text.includes('list_calls')
    ? []
    : [`unknown, without a way to find it: ${text}`]
}
