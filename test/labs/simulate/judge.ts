import { isOnList, mayHide } from '../platform/call-lists.ts'
import { type ReportedAnswer, violationsOfCall } from '../platform/judge-call.ts'
import type { Plan, WantedCall } from './plan.ts'
import type { Reserved, SharedState } from './shared-state.ts'
import type { Answer } from './simulated-server.ts'
import type { VirtualPlatform } from './virtual-platform.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A request for a wanted call, and the client's answer. */
export interface AnsweredRequest extends ReportedAnswer {
  readonly wanted: WantedCall
  readonly answer: Answer
}

/** Data of a finished history, from which it is judged. */
export interface Evidence {
  readonly plan: Plan
  readonly platform: VirtualPlatform
  readonly reported: readonly AnsweredRequest[]
  readonly state: SharedState
  readonly time: VirtualTime
  /** True if a new server with max_at_once = 1 allows a call. */
  readonly isFree: () => Promise<boolean>
}

/** Violations of guarantees in a finished history. */
export async function judge(evidence: Evidence): Promise<string[]> {
  const { plan, state } = evidence
  return [
    ...plan.calls.flatMap((wanted) => violationsOfWantedCall(wanted, evidence)),
    ...exceededLimits(evidence),
    ...state.usedTwice.map((token) => `${token}: used twice`),
    ...(await heldPermits(evidence)),
  ]
}

function violationsOfWantedCall(
  wanted: WantedCall,
  { plan, platform, reported }: Evidence,
): string[] {
  const calls = platform.calls.filter(({ to_number }) => to_number === wanted.number)
  const own = reported.filter((one) => one.wanted === wanted)
  const found = violationsOfCall(own, calls)
  const last = own.at(-1)?.answer.kind
  const isListed = calls.some(isOnList)
  const mayStayUnknown = mayHide(plan.listing) && (!showsAbsence(plan) || isListed)
  if (last !== 'placed' && !(mayStayUnknown && last === 'unknown'))
    found.push(`at the end it is ${last}, not placed`)
  return found.map((what) => `${wanted.number}: ${what}`)
}

/** True if a list can prove that a call does not exist. */
const showsAbsence = ({ listing: { ignoresOffset, numbers } }: Plan) =>
  !ignoresOffset && numbers !== 'masked'

/** Calls that rang without a reservation, or with one that exceeds a limit. */
function exceededLimits({ plan, platform, state }: Evidence): string[] {
  const rung = platform.calls.filter(({ rings }) => rings)
  const reservations = state.reserved.flatMap((reserved) => {
    const call = rung.find(({ permitId }) => permitId === reserved.id)
    return call ? [{ reserved, call }] : []
  })
  const { max_at_once, max_per_minute } = plan.limits
  const isCounted = max_at_once !== undefined || max_per_minute !== undefined
  const uncounted = rung.filter(
    ({ permitId }) => !reservations.some(({ reserved }) => reserved.id === permitId),
  )
  const found = isCounted ? uncounted.map(({ id }) => `${id}: no reservation permits it`) : []
  reservations.forEach(({ reserved, call }, index) => {
    const before = reservations.slice(0, index)
    const recent = before.filter((one) => isWithinMinute(one.reserved, reserved))
    if (max_per_minute !== undefined && recent.length >= max_per_minute)
      found.push(`${call.id}: more than ${max_per_minute} in a minute`)
    const underWay = before.filter((one) => one.call.endsAt > reserved.at)
    if (max_at_once !== undefined && underWay.length >= max_at_once)
      found.push(`${call.id}: more than ${max_at_once} at once`)
  })
  return found
}

const isWithinMinute = (before: Reserved, now: Reserved) =>
  before.timeOfDay > now.timeOfDay - 60_000

const longestLeaseMs = 12 * 3_600_000

/**
 * Checks that no permit is held after all calls have ended, whatever stopped or failed. If the
 * outcome of a call stays unknown, its permit may be held until its lease ends.
 */
async function heldPermits({ plan, state, time, isFree }: Evidence): Promise<string[]> {
  if (plan.limits.max_at_once === undefined) return []
  if (!mayHide(plan.listing))
    return (await isFree()) ? [] : ['a permit is held after all calls have ended']
  // Leases end by the machine's clock, so it must also advance by all steps that may have set it
  // back.
  const steps = plan.events.map((event) => (event.kind === 'clock' ? Math.abs(event.byMs) : 0))
  time.stepClock(longestLeaseMs + Math.max(0, ...steps) * steps.length + 1)
  return (await state.isCallCounted()) ? ['a permit is held for longer than its lease'] : []
}
