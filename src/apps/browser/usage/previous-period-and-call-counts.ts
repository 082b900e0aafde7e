import * as z from 'zod/mini'
import { dateIn, midnightBefore, startBefore } from '../../../text/time-zone.ts'
import type { Args, Page } from '../shared/view.ts'
import { isRunning, UsageData, zoneOf } from './data.ts'

/*
 * Figures that get_usage does not report for a period: the usage in the period before, and how many
 * calls were answered or failed. Two or three tool calls read them in the background, once for each
 * shown period.
 */

/** Background figures of a period. A field is absent if it could not be read. */
export interface Background {
  readonly before?: Before
  readonly calls?: ReviewedCalls
  /** There are too many calls to count them. */
  readonly hasTooManyCalls?: boolean
  /** The calls leave out subaccounts, although the usage includes them. */
  readonly isAccountOnly?: boolean
}

/** Usage in the period before. */
interface Before extends Period {
  readonly seconds: number
  readonly conversations: number
  /** The period ends at the time of day that it is now. */
  readonly isUpToNow: boolean
}

/** Times are ISO 8601. */
interface Period {
  readonly start: string
  readonly end: string
}

interface ReviewedCalls {
  readonly now: CallCounts
  /**
   * Counts in the period before. Absent if the result compares with another period, or not all
   * calls were read.
   */
  readonly before?: CallCounts
}

/** Numbers of calls by outcome. Calls of unknown outcome are in none of them. */
export interface CallCounts {
  readonly answered: number
  readonly unanswered: number
  readonly failed: number
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

/** Cache of the last read, so that a change of theme or measure reads nothing. */
let last: { readonly key: string; readonly background: Promise<Background> } | undefined

/**
 * Reads the figures for a result; `undefined` if the host allows no tool calls, or the period is
 * empty.
 */
export function readBackground(
  data: UsageData,
  page: Page<UsageData>,
): Promise<Background> | undefined {
  const asked = askedFor(data, page.input)
  if (!asked || !page.host.canCallTools()) return undefined
  // Without `asked.end`, which for a period that is not over is the present.
  const { start, end, tz } = data.meta
  const key = JSON.stringify([asked.account, start, end, tz, data.compared_with])
  if (last?.key === key) return last.background
  const background = readBoth(data, page, asked)
  last = { key, background }
  return background
}

async function readBoth(data: UsageData, page: Page<UsageData>, asked: Asked): Promise<Background> {
  const hasTooManyCalls = data.totals.conversations > maxCalls
  const isOwnBefore = asked.isUpToNow && !data.compared_with
  const [before, reviewed, reviewedBefore] = await Promise.all([
    data.compared_with ? undefined : readBefore(page, asked),
    hasTooManyCalls ? undefined : readReview(page, asked, asked),
    hasTooManyCalls || !isOwnBefore ? undefined : readReview(page, asked, asked.before),
  ])
  const { review, note = '' } = reviewed ?? {}
  const isPart = hasTooManyCalls || review?.partial === true
  const calls =
    review &&
    (isOwnBefore
      ? callsUpToNow(review, reviewedBefore?.review)
      : callsOf(review, data.compared_with))
  return {
    ...(before && { before }),
    ...(calls && !isPart && { calls }),
    ...(isPart && { hasTooManyCalls: true }),
    // The server's note contains this text if the server may not read subaccounts.
    ...(note.includes('subaccounts are not in the list') && { isAccountOnly: true }),
  }
}

/** What the tool calls read: the shown period, up to now. */
interface Asked extends Period {
  /** Argument that selects the account, if the shown result has one. */
  readonly account: Args
  /** The period before. */
  readonly before: Period
  /** The shown period runs, and the period before ends at the same time of day. */
  readonly isUpToNow: boolean
  readonly zone: string
}

function askedFor({ meta }: UsageData, { account_id }: Args): Asked | undefined {
  const start = Date.parse(meta.start ?? '')
  const end = Math.min(Date.parse(meta.end ?? ''), Date.now())
  if (!(start < end)) return undefined
  const zone = zoneOf(meta)
  const midnight = (ms: number, daysBefore = 0) => Date.parse(midnightBefore(ms, daysBefore, zone))
  // Of whole days and a running one, the same days and hours are compared: no evening with a
  // morning.
  const isUpToNow = isRunning(meta) && midnight(start) === start && midnight(end) !== end
  const days = (Date.parse(dateIn(end, zone)) - Date.parse(dateIn(start, zone))) / day + 1
  const before = isUpToNow
    ? { start: midnight(start, days), end: midnight(end, days) + end - midnight(end) }
    : { start: startBefore(start, end, zone), end: start }
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    account: account_id === undefined ? {} : { account_id },
    ...{ start: iso(start), end: iso(end), zone, isUpToNow },
    before: { start: iso(before.start), end: iso(before.end) },
  }
}

const day = 86_400_000

async function readBefore(
  { read }: Page<UsageData>,
  { account, start, end, before, isUpToNow, zone }: Asked,
): Promise<Before | undefined> {
  const result = await read('get_usage', {
    ...{ ...account, start, end, tz: zone },
    ...{ granularity: 'total', compare_start: before.start },
    ...(isUpToNow && { compare_end: before.end }),
  })
  const sum = UsageData.safeParse(result?.structuredContent).data?.totals.before
  if (!sum) return undefined
  const { seconds, conversations } = sum
  return { ...{ seconds, conversations, isUpToNow }, ...before }
}

async function readReview(
  { read }: Page<UsageData>,
  { account, zone }: Asked,
  { start, end }: Period,
) {
  const result = await read('list_calls', {
    ...{ ...account, include_subaccounts: true, review: true, evidence: 1 },
    ...{ created_after: start, created_before: end, tz: zone },
  })
  return Review.safeParse(result?.structuredContent).data
}

type Review = z.output<typeof Review>['review']

const callsUpToNow = (review: Review, before: Review | undefined): ReviewedCalls => ({
  now: countsOf(review.by_outcome, ({ calls }) => calls),
  ...(before && !before.partial && { before: countsOf(before.by_outcome, ({ calls }) => calls) }),
})

function callsOf(
  { start, before, by_outcome }: Review,
  compared: UsageData['compared_with'],
): ReviewedCalls {
  const isOther =
    compared !== undefined && !(isSame(compared.start, before.start) && isSame(compared.end, start))
  const now = countsOf(by_outcome, ({ calls }) => calls)
  if (before.partial || isOther) return { now }
  return { now, before: countsOf(by_outcome, (outcome) => outcome.before) }
}

const isSame = (one: string, other: string) => Date.parse(one) === Date.parse(other)

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
  return {
    answered: sumOf(({ answer_status }) => answers.answered.includes(answer_status)),
    unanswered: sumOf(({ answer_status }) => answers.unanswered.includes(answer_status)),
    failed: sumOf(({ status }) => status === 'failed'),
  }
}
