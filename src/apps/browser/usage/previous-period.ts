import { dateIn, midnightBefore, startBefore } from '../../../text/time-zone.ts'
import type { Page } from '../shared/view.ts'
import { isRunning, UsageData, zoneOf } from './data.ts'

/** Times are ISO 8601. */
export interface Period {
  readonly start: string
  readonly end: string
}

/** The shown period, up to now, with the period before it. */
export interface ComparedPeriods extends Period {
  readonly before: Period
  /** The shown period is not over, and the period before ends at the same time of day. */
  readonly isUpToNow: boolean
  readonly zone: string
}

/** `undefined` if the shown period is empty or not known. */
export function comparedPeriods({ meta }: UsageData): ComparedPeriods | undefined {
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
    ...{ start: iso(start), end: iso(end), zone, isUpToNow },
    before: { start: iso(before.start), end: iso(before.end) },
  }
}

const day = 86_400_000

/** Usage in the period before. */
export interface PreviousUsage extends Period {
  readonly seconds: number
  readonly conversations: number
  readonly isUpToNow: boolean
}

/** `undefined` if it could not be read. */
export async function readPreviousUsage(
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
