import * as z from 'zod/mini'
import { isTimeZone } from '../../../text/time-zone.ts'
import type { Formats } from '../shared/formats.ts'

const Sum = z.looseObject({ seconds: z.number(), minutes: z.number(), conversations: z.number() })

const Value = z.looseObject({
  seconds: z.number(),
  conversations: z.number(),
  dimensions: z.nullish(z.record(z.string(), z.unknown())),
  before: z.optional(Sum),
})

/** Result of get_usage, as far as the view shows it. */
export const UsageData = z.looseObject({
  meta: z.looseObject({
    start: z.nullish(z.string()),
    end: z.nullish(z.string()),
    granularity: z.nullish(z.string()),
    tz: z.nullish(z.string()),
  }),
  totals: z.looseObject({
    ...Sum.shape,
    before: z.optional(Sum),
  }),
  compared_with: z.optional(z.looseObject({ start: z.string(), end: z.string() })),
  names: z.optional(z.record(z.string(), z.record(z.string(), z.string()))),
  data: z.array(z.looseObject({ ts: z.string(), values: z.array(Value) })),
})
export type UsageData = z.output<typeof UsageData>
export type Value = z.output<typeof Value>

/** Time zone of the result; UTC if this browser does not know it. */
export const zoneOf = ({ tz }: UsageData['meta']): string => (tz && isTimeZone(tz) ? tz : 'UTC')

/** A range that ended at most this long ago, ms, ends now. */
const recent = 600_000

/** True if the range of a result reaches to the present. */
export const isRunning = ({ end }: UsageData['meta']): boolean =>
  Date.parse(end ?? '') >= Date.now() - recent

/** Measures of the chart and the table. */
export const measures = { minutes: 'Minutes', conversations: 'Conversations' } as const
export type Measure = keyof typeof measures

/** Formats an amount. Minutes always have one decimal. */
export const amountIn = (measure: Measure, amount: number, formats: Formats, isSigned = false) =>
  formats.fixed(amount, { decimals: measure === 'minutes' ? 1 : 0, isSigned })

export const amountOf = (
  { seconds, conversations }: Pick<Value, 'seconds' | 'conversations'>,
  measure: Measure,
) => (measure === 'minutes' ? seconds / 60 : conversations)

export const sum = (amounts: readonly number[]): number =>
  amounts.reduce((total, amount) => total + amount, 0)
