import type { AnswerStatus } from '../../contract/answer-status.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { AccountInTree } from '../../platform/sessions/account-tree.ts'
import type { ListItem } from './list-result.ts'
import {
  type AccountBranch,
  type FailedAccounts,
  failedAccounts,
  type ListExtent,
  listNotes,
  mergedItems,
  type OwnedItem,
  type TreeRun,
  withBranches,
} from './several-accounts.ts'

/**
 * Maximum number of calls read, over all accounts, where the platform cannot filter or count them.
 */
export const maxCallsRead = 2000
const perPage = 100

/**
 * Keeps calls with one of these answer statuses, which the platform cannot filter by; `undefined`:
 * keeps all.
 */
export const hasAnswer =
  (answers: readonly AnswerStatus[] | undefined) =>
  ({ answer_status }: ListItem): boolean =>
    answers === undefined || answers.some((one) => one === answer_status)

/** Calls of one period, as far as they were read. Times are Unix ms. */
export interface PartOfReview {
  readonly start: number
  /** End of the period, exclusive. */
  readonly end: number
  /** Latest call first. */
  readonly calls: readonly OwnedItem[]
  /** How much of each account's list was read, by account id. */
  readonly extents: ReadonlyMap<string, ListExtent>
  /** True if there may be more calls than were read. */
  readonly isPart: boolean
}

export interface CallReview {
  /** IANA time zone of the times in the text. */
  readonly zone: string
  /** True if only calls that match filters are counted. */
  readonly isFiltered: boolean
  readonly accounts: readonly AccountInTree[]
  readonly now: PartOfReview
  readonly before: PartOfReview
}

interface ReviewRun extends TreeRun {
  readonly of: 'account' | 'account and subaccounts'
  /** Filters of both periods, except for creation times. */
  readonly filters: RouteRequest['query']
  readonly answers?: readonly AnswerStatus[] | undefined
  /**
   * Unix ms. The period lasts from `start` to `end`, the earlier period from `before` to `start`.
   * Both exclude their end.
   */
  readonly times: { readonly before: number; readonly start: number; readonly end: number }
  readonly zone: string
  readonly onPage?: ((items: number) => void) | undefined
}

interface ReadReview {
  readonly review: CallReview
  readonly failed: readonly FailedAccounts[]
  /** Calls that were not read, with the reason. */
  readonly note: string | undefined
}

/**
 * Reads the calls of a period and of the one before, at most 2,000 each. Throws ApiError if no call
 * of the later period could be read, or if the caller cancelled. Other failures leave the review
 * partial.
 */
export function readCallReview({
  times: { before, start, end },
  filters,
  answers,
  zone,
  ...run
}: ReviewRun): Promise<ReadReview> {
  const created = (from: number, until: number) => ({
    ...filters,
    created_after: new Date(from).toISOString(),
    created_before: new Date(until).toISOString(),
  })
  const options = { ...run, filters: created(start, end), perPage }
  return withBranches(routes.calls.list, options, async (branches, tree, open) => {
    const earlier = open(created(before, start))
    const read = async (ones: AccountBranch[], from: number, until: number) => {
      const { items } = await mergedItems(ones, {
        from: 0,
        to: maxCallsRead,
        order: 'latest_first',
      })
      const isWanted = hasAnswer(answers)
      const inTime = items.filter(({ item }) => isInTime(item, from, until))
      const part: PartOfReview = {
        ...{ start: from, end: until },
        calls: inTime.filter(({ item }) => isWanted(item)),
        extents: new Map(ones.map(({ account, extent }) => [account.id, extent])),
        isPart: isTreePart || ones.some(({ extent }) => extent !== 'all'),
      }
      return { part, dropped: items.length - inTime.length, read: items.length }
    }
    const isTreePart = tree.hasMore || tree.failed.length > 0
    const [now, then] = await Promise.all([
      read(branches, start, end),
      read(earlier, before, start),
    ])
    // An account that failed for either period is named once.
    const states = branches.map(({ account, hasRead, error }, at) => ({
      ...{ account, hasRead },
      error: error ?? earlier[at]?.error,
    }))
    const failed = failedAccounts(states, tree, run)
    const isBounded = [now, then].some((one) => one.read >= maxCallsRead && one.part.isPart)
    const dropped = now.dropped + then.dropped
    const notes = [
      isBounded &&
        `At most ${maxCallsRead} calls of each time are read: narrow created_after and created_before.`,
      dropped > 0 && `The platform gave ${dropped} calls of other times too: they are not counted.`,
      listNotes([...branches, ...earlier], tree, { failed, from: 0 }),
      end > Date.now() && 'The period has not ended: its calls are those so far.',
    ]
    return {
      review: {
        ...{ zone, accounts: tree.accounts, now: now.part, before: then.part },
        isFiltered: answers !== undefined || Object.keys(filters).length > 0,
      },
      failed,
      note: notes.filter(Boolean).join(' ') || undefined,
    }
  })
}

/**
 * True if a call was created in the period. A platform may filter less than asked. A call without a
 * creation time counts as inside.
 */
function isInTime({ created }: ListItem, from: number, until: number): boolean {
  const time = Date.parse(String(created))
  return Number.isNaN(time) || (time >= from && time < until)
}
