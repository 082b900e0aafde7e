/**
 * Runs `work` for all items, at most `concurrency` at a time. Results are in input order. After a
 * failure no further item starts, and the failure is thrown.
 */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  // All workers share this iterator, so each item is taken once.
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
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, worker))
  return results
}
