import type { Call } from '../contract/call.ts'

/** What a list says of a call. */
export interface ListedCallResult {
  readonly call: Call | undefined
  /** Without a call: the whole list was read, and no item of it can be the call. */
  readonly isCertain: boolean
}

/** One page of the calls that a list shows: `count` is how many there are on all pages. */
export type ReadPage = (page: { readonly limit: number; readonly offset: number }) => Promise<{
  readonly items: readonly Call[]
  readonly count?: number | undefined
}>

/** Calls on a page, and the most pages that are read: the result of a longer list is not certain. */
const limit = 100
const maxPages = 50

/** By what a call is recognised in a list. */
export interface CallMark {
  readonly externalId: string
  /** The number that is called: an item with another number is another call. */
  readonly toNumber: string | undefined
}

/**
 * Looks for a call on all pages of a list, for a platform that ignores the filter by external id.
 * The list is complete where a page is empty or the `count` says so. A platform that ignores
 * `offset` repeats its first page: that list is complete only if it counts no more.
 */
export const searchCallList = (mark: CallMark, read: ReadPage): Promise<ListedCallResult> =>
  search(mark, read, maybeCall)

/**
 * The same in a list of all calls, for a platform that shortens external ids or changes their case.
 * Such an id does not tell which call it is, so the result is not certain.
 */
export const searchRespelled = (mark: CallMark, read: ReadPage): Promise<ListedCallResult> =>
  search(mark, read, (item, { externalId, toNumber }) => {
    const shown = normalised(item.external_id ?? '')
    if (shown === '') return false
    return maybeCall(
      { ...item, external_id: shown },
      { externalId: normalised(externalId), toNumber },
    )
  })

const normalised = (externalId: string) => externalId.trim().toLowerCase()

async function search(
  mark: CallMark,
  read: ReadPage,
  maybe: (item: Call, mark: CallMark) => boolean,
): Promise<ListedCallResult> {
  const seen = new Set<string>()
  let isDoubtful = false
  for (let page = 0; page < maxPages; page++) {
    const { items, count } = await read({ limit, offset: seen.size })
    const call = items.find(({ external_id }) => external_id === mark.externalId)
    if (call) return { call, isCertain: true }
    isDoubtful ||= items.some((item) => maybe(item, mark))
    const before = seen.size
    for (const { id } of items) seen.add(id)
    // The count of a full page may be that of the page.
    const isComplete = items.length === 0 || (items.length < limit && seen.size === count)
    if (isComplete) return { call: undefined, isCertain: !isDoubtful }
    if (seen.size === before) break
  }
  return { call: undefined, isCertain: false }
}

/** An item that is shown without its external id, or with the beginning of it, may be the call. */
function maybeCall({ external_id, to_number }: Call, { externalId, toNumber }: CallMark): boolean {
  const isOther = Boolean(to_number) && toNumber !== undefined && to_number !== toNumber
  return externalId.startsWith(external_id ?? '') && !isOther
}
