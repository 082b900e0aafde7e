/** Items of a list, as far as they were read. */
export interface AllItems<T> {
  readonly items: readonly T[]
  /** False if the list has, or may have, more items. */
  readonly isAll: boolean
}

/** Reads one page of a list. `count`: the number of items on all pages together. */
type ReadPage<T> = (page: { readonly limit: number; readonly offset: number }) => Promise<{
  readonly items: readonly T[]
  readonly count?: number | undefined
}>

const limit = 100
const maxPages = 20

/** Maximum number of items read from one list. */
export const maxItems = limit * maxPages

interface ReadOptions<T> {
  readonly isEnough?: (page: readonly T[], known: number) => boolean
  /**
   * True: `count` proves nothing, because the platform may have shortened the page and counted only
   * that page.
   */
  readonly distrustsCount?: boolean
}

/**
 * Reads all pages of a list, at most 2,000 items. Stops after a page for which `isEnough` returns
 * true; its second argument is the number of items read so far.
 *
 * The list counts as complete if a page is empty, if a partial page repeats, or if as many items as
 * its `count` were read and the last page is partial. The last rule does not apply with
 * `distrustsCount`. The list never counts as complete with fewer items than any page has counted. A
 * full page that repeats shows that the platform ignores `offset`, so there may be more items.
 */
export async function readAllItems<T extends { readonly id: string }>(
  read: ReadPage<T>,
  { isEnough, distrustsCount = false }: ReadOptions<T> = {},
): Promise<AllItems<T>> {
  const known = new Map<string, T>()
  let max: number | undefined
  const result = (isAll: boolean) => ({ items: [...known.values()], isAll })
  for (let page = 0; page < maxPages; page++) {
    const before = known.size
    const { items, count } = await read({ limit, offset: before })
    for (const item of items) known.set(item.id, item)
    if (count !== undefined) max = Math.max(count, max ?? 0)
    const isCounted = max !== undefined && known.size >= max
    if (items.length === 0) return result(max === undefined || isCounted)
    if (isEnough?.(items, known.size)) return result(false)
    // The `count` of a full page proves nothing: it may count only that page.
    if (isCounted && items.length < limit && !distrustsCount) return result(true)
    if (known.size === before)
      return result(items.length < limit && (max === undefined || isCounted))
  }
  return result(false)
}
