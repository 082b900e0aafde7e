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

/**
 * All pages of a list, 2,000 items at most. The list is complete where a page is empty or the `count`
 * says so; a platform that ignores `offset` repeats its first page, so its list is not.
 */
export async function readAllItems<T extends { readonly id: string }>(
  read: ReadPage<T>,
): Promise<AllItems<T>> {
  const known = new Map<string, T>()
  const result = (isAll: boolean) => ({ items: [...known.values()], isAll })
  for (let page = 0; page < mostPages; page++) {
    const before = known.size
    const { items, count } = await read({ limit, offset: before })
    for (const item of items) known.set(item.id, item)
    // The count of a full page may be that of the page.
    const isCounted = items.length < limit && count !== undefined && known.size >= count
    if (items.length === 0 || isCounted) return result(true)
    if (known.size === before) break
  }
  return result(false)
}
