/**
 * The results of `work` for all items, in their order; at most `atOnce` are under way at a time. After
 * a failure nothing more begins, and the failure is thrown.
 */
export async function mapAtOnce<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  // All workers take from the same iterator, so each item is taken once.
  const rest = items.entries()
  let hasFailed = false
  const worker = async () => {
    for (const [at, item] of rest) {
      if (hasFailed) return
      results[at] = await work(item).catch((error: unknown) => {
        hasFailed = true
        throw error
      })
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
  return results
}
