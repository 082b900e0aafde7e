/** The items of a list, as far as they were read. */
export interface AllItems<T> {
  readonly items: readonly T[]
  /** False: the list has, or may have, more than these. */
  readonly isAll: boolean
}

/** One page of a list: `count` is how many there are on all pages. */
type ReadPage<T> = (page: { readonly limit: number; readonly offset: number }) => Promise<{
  readonly items: readonly T[]
  readonly count?: number | undefined
}>

const limit = 100
const mostPages = 20

/** How many items are read at most. */
export const mostItems = limit * mostPages

/**
 * All pages of a list, 2,000 items at most. Reading ends early after a page for which `isEnough` is
 * true; it is also given how many items are known. The list is complete where a page is empty, or the
 * `count` says so, or a page that is not full comes again. A full page that comes again is that of a
 * platform which ignores `offset`: there may be more.
 */
export async function readAllItems<T extends { readonly id: string }>(
  read: ReadPage<T>,
  { isEnough }: { readonly isEnough?: (page: readonly T[], known: number) => boolean } = {},
): Promise<AllItems<T>> {
  const known = new Map<string, T>()
  const result = (isAll: boolean) => ({ items: [...known.values()], isAll })
  for (let page = 0; page < mostPages; page++) {
    const before = known.size
    const { items, count } = await read({ limit, offset: before })
    for (const item of items) known.set(item.id, item)
    if (items.length === 0) return result(true)
    if (isEnough?.(items, known.size)) return result(false)
    const isCounted = count !== undefined && known.size >= count
    // The count of a full page may be that of the page.
    if (isCounted && items.length < limit) return result(true)
    if (known.size === before)
      return result(items.length < limit && (count === undefined || isCounted))
  }
  return result(false)
}
