import type { Usage } from '../contract/usage.ts'
import type { UsageGroup } from './usage-groups.ts'

/** Usage of a time, to be shown. */
export interface UsageReport {
  /** What else the platform replied. */
  readonly rest: Readonly<Record<string, unknown>>
  readonly meta: Usage['meta']
  readonly data: Usage['data']
  /** Of the whole range. */
  readonly totals: Omit<UsageGroup, 'dimensions'>
  /** Of the whole range, the most used first. */
  readonly groups: readonly UsageGroup[]
  readonly groupBy: readonly string[]
  readonly zone: string
  /** `data` has buckets, not totals. */
  readonly isSeries: boolean
  /** `data` has only some of the buckets: the platform gives so many at most. */
  readonly isPart: boolean
  /** The time that the totals are compared with, Unix ms. */
  readonly comparedWith?: { readonly start: number; readonly end: number }
  readonly names: UsageNames
}

/** Names by id. */
interface UsageNames {
  readonly agent: ReadonlyMap<string, string>
  readonly subaccount: ReadonlyMap<string, string>
  /** Why some are missing. */
  readonly note: string | undefined
}
