import * as z from 'zod/mini'
import { dateIn, midnightBefore, startBefore } from '../../../text/time-zone.ts'
import type { Page } from '../shared/view.ts'
import { isRunning, UsageData, zoneOf } from './data.ts'

/*
 * Figures that a result of get_usage does not have: usage in the period before, and calls by outcome.
 * Two or three tool calls read them in the background.
 */

export interface Background {
  readonly before?: PreviousUsage
  readonly calls: CountedCalls
}

/** Cache of the last read, so that a change of theme or measure reads nothing. */
let last: { readonly key: string; readonly background: Promise<Background> } | undefined

/** Reads the figures; `undefined` if the host allows no tool calls, or the period is empty. */
export function readBackground(
  data: UsageData,
  page: Page<UsageData>,
): Promise<Background> | undefined {
  const periods = comparedPeriods(data)
  if (!periods || !page.host.canCallTools()) return undefined
  // The key leaves out `periods.end`: in a running period it is the present, so the key would always
  // change.
  const { start, end, tz } = data.meta
  const key = JSON.stringify([page.input.account_id, start, end, tz, data.compared_with])
  if (last?.key === key) return last.background
  const read = Promise.all([
    data.compared_with ? undefined : readPreviousUsage(page, periods),
    countCalls(data, page, periods),
  ])
  const background = read.then(([before, calls]) => ({ ...(before && { before }), calls }))
  last = { key, background }
  return background
}

/** Times are ISO 8601. */
interface Period {
  readonly start: string
  readonly end: string
}

/** The shown period, up to now, with the period before it. */
interface ComparedPeriods extends Period {
  readonly before: Period
  /** The shown period is not over, and the period before ends at the same time of day. */
  readonly isUpToNow: boolean
  readonly zone: string
}

/** The compared periods; `undefined` if the shown one is empty or not known. */
function comparedPeriods({ meta }: UsageData): ComparedPeriods | undefined {
  const start = Date.parse(meta.start ?? '')
  const end = Math.min(Date.parse(meta.end ?? ''), Date.now())
  if (!(start < end)) return undefined
  const zone = zoneOf(meta)
  const midnight = (ms: number, daysBefore = 0) => Date.parse(midnightBefore(ms, daysBefore, zone))
  // If the period is whole days and a running day, the earlier period ends at the same time of day,
  // so a morning is never compared with an evening.
  const isUpToNow = isRunning(meta) && midnight(start) === start && midnight(end) !== end
  const days = (Date.parse(dateIn(end, zone)) - Date.parse(dateIn(start, zone))) / day + 1
  const before = isUpToNow
    ? { start: midnight(start, days), end: midnight(end, days) + end - midnight(end) }
    : { start: startBefore(start, end, zone), end: start }
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    ...{ start: iso(start), end: iso(end), zone, isUpToNow },
    before: { start: iso(before.start), end: iso(before.end) },
  }
}

const day = 86_400_000

/** Usage in the period before. */
interface PreviousUsage extends Period {
  readonly seconds: number
  readonly conversations: number
  readonly isUpToNow: boolean
}

/** Usage in the period before; `undefined` if it could not be read. */
async function readPreviousUsage(
  { read, input: { account_id } }: Page<UsageData>,
  { start, end, before, isUpToNow, zone }: ComparedPeriods,
): Promise<PreviousUsage | undefined> {
  const result = await read('get_usage', {
    ...{ account_id, start, end, tz: zone },
    ...{ granularity: 'total', compare_start: before.start },
    ...(isUpToNow && { compare_end: before.end }),
  })
  const sum = UsageData.safeParse(result?.structuredContent).data?.totals.before
  if (!sum) return undefined
  const { seconds, conversations } = sum
  return { ...{ seconds, conversations, isUpToNow }, ...before }
}

/** Numbers of calls by outcome. Calls of unknown outcome are in none of them. */
export interface CallCounts {
  /** Answered by a person or a machine. */
  readonly answered: number
  /** Declined, busy or missed. */
  readonly unanswered: number
  /** Ended by an error, whether or not somebody had answered. */
  readonly failed: number
}

/** Counts of the shown period. A field is absent if it could not be read. */
interface CountedCalls {
  readonly now?: CallCounts
  /** Absent, too, if the result compares with another period. */
  readonly before?: CallCounts
  /** There are too many calls to count them. */
  readonly hasTooMany?: boolean
  /** The calls leave out subaccounts, although the usage includes them. */
  readonly isAccountOnly?: boolean
}

/**
 * Maximum calls that list_calls reads for a review (`maxCallsRead` on the server). A review of more
 * calls would be partial.
 */
const maxCalls = 2000

const Outcome = z.looseObject({
  status: z.string(),
  answer_status: z.string(),
  calls: z.nullable(z.number()),
  before: z.nullable(z.number()),
})
type Outcome = z.output<typeof Outcome>

/** Result of list_calls with `review`, as far as the view shows it. */
const Review = z.looseObject({
  note: z.optional(z.string()),
  review: z.looseObject({
    start: z.string(),
    partial: z.boolean(),
    before: z.looseObject({ start: z.string(), partial: z.boolean() }),
    by_outcome: z.array(Outcome),
  }),
})

/** Counts the calls of the shown period and of the period before. */
async function countCalls(
  { totals, compared_with }: UsageData,
  page: Page<UsageData>,
  periods: ComparedPeriods,
): Promise<CountedCalls> {
  if (totals.conversations > maxCalls) return { hasTooMany: true }
  // A review compares with the whole period before, not with that up to the same time of day.
  const isReadApart = periods.isUpToNow && !compared_with
  const [reviewed, reviewedBefore] = await Promise.all([
    readReview(page, periods, periods.zone),
    isReadApart ? readReview(page, periods.before, periods.zone) : undefined,
  ])
  if (!reviewed) return {}
  const { review, note = '' } = reviewed
  if (review.partial) return { hasTooMany: true }
  const before = isReadApart
    ? reviewedBefore && !reviewedBefore.review.partial && callsIn(reviewedBefore.review)
    : isComparedWith(review, compared_with) && countsOf(review.by_outcome, ({ before }) => before)
  return {
    now: callsIn(review),
    ...(before && { before }),
    // The server's note contains this text if the server may not read subaccounts.
    ...(note.includes('subaccounts are not in the list') && { isAccountOnly: true }),
  }
}

async function readReview(
  { read, input: { account_id } }: Page<UsageData>,
  { start, end }: Period,
  tz: string,
) {
  const result = await read('list_calls', {
    ...{ account_id, include_subaccounts: true, review: true, evidence: 1 },
    ...{ created_after: start, created_before: end, tz },
  })
  return Review.safeParse(result?.structuredContent).data
}

type Review = z.output<typeof Review>['review']

/** True if a review counted the calls of the compared period: all of them, and no others. */
const isComparedWith = ({ start, before }: Review, compared: UsageData['compared_with']) =>
  !before.partial &&
  (!compared || (isSame(compared.start, before.start) && isSame(compared.end, start)))

const isSame = (one: string, other: string) => Date.parse(one) === Date.parse(other)

const callsIn = ({ by_outcome }: Review) => countsOf(by_outcome, ({ calls }) => calls)

const answers = {
  answered: ['human', 'machine'],
  unanswered: ['user_rejected', 'user_unavailable', 'user_busy'],
}

function countsOf(
  outcomes: readonly Outcome[],
  countOf: (outcome: Outcome) => number | null,
): CallCounts {
  const sumOf = (isCounted: (outcome: Outcome) => boolean) =>
    outcomes.filter(isCounted).reduce((sum, outcome) => sum + (countOf(outcome) ?? 0), 0)
  const isUnanswered = ({ answer_status }: Outcome) => answers.unanswered.includes(answer_status)
  return {
    answered: sumOf(({ answer_status }) => answers.answered.includes(answer_status)),
    unanswered: sumOf(isUnanswered),
    // The platform's status of an unanswered call is `failed`, too.
    failed: sumOf((outcome) => outcome.status === 'failed' && !isUnanswered(outcome)),
  }
}
