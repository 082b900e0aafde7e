import * as z from 'zod/mini'
import { startBefore } from '../../../text/time-zone.ts'
import type { Args, Page } from '../shared/view.ts'
import { UsageData, zoneOf } from './data.ts'

/*
 * Figures that get_usage does not report for a period: the usage in the period before, and how many
 * calls were answered or failed. Two tool calls read them in the background, once for each shown
 * period.
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

/** Usage in the period of the same length before. */
interface Before {
  readonly seconds: number
  readonly conversations: number
  /** Start of that period, ISO 8601. */
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
interface CallCounts {
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
  const [before, reviewed] = await Promise.all([
    data.compared_with ? undefined : readBefore(page, asked),
    hasTooManyCalls ? undefined : readReview(page, asked),
  ])
  const { review, note = '' } = reviewed ?? {}
  const isPart = hasTooManyCalls || review?.partial === true
  return {
    ...(before && { before }),
    ...(review && !isPart && { calls: callsOf(review, data.compared_with) }),
    ...(isPart && { hasTooManyCalls: true }),
    // The server's note contains this text if the server may not read subaccounts.
    ...(note.includes('subaccounts are not in the list') && { isAccountOnly: true }),
  }
}

/** What the tool calls read. Times are ISO 8601. */
interface Asked {
  /** Argument that selects the account, if the shown result has one. */
  readonly account: Args
  /** The shown period, up to now. */
  readonly start: string
  readonly end: string
  /** Start of the period of the same length before. */
  readonly before: string
  readonly zone: string
}

function askedFor({ meta }: UsageData, { account_id }: Args): Asked | undefined {
  const start = Date.parse(meta.start ?? '')
  const end = Math.min(Date.parse(meta.end ?? ''), Date.now())
  if (!(start < end)) return undefined
  const zone = zoneOf(meta)
  const iso = (ms: number) => new Date(ms).toISOString()
  return {
    account: account_id === undefined ? {} : { account_id },
    ...{ start: iso(start), end: iso(end), before: iso(startBefore(start, end, zone)), zone },
  }
}

async function readBefore(
  { read }: Page<UsageData>,
  { account, start, end, before, zone }: Asked,
): Promise<Before | undefined> {
  const result = await read('get_usage', {
    ...{ ...account, start, end, tz: zone },
    ...{ granularity: 'total', compare_start: before },
  })
  const sum = UsageData.safeParse(result?.structuredContent).data?.totals.before
  if (!sum) return undefined
  const { seconds, conversations } = sum
  return { seconds, conversations, start: before, end: start }
}

async function readReview({ read }: Page<UsageData>, { account, start, end, zone }: Asked) {
  const result = await read('list_calls', {
    ...{ ...account, include_subaccounts: true, review: true, evidence: 1 },
    ...{ created_after: start, created_before: end, tz: zone },
  })
  return Review.safeParse(result?.structuredContent).data
}

function callsOf(
  { start, before, by_outcome }: z.output<typeof Review>['review'],
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
