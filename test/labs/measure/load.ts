/** Does work on all items, `concurrency` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const left = items.values()
  await Promise.all(
    Array.from({ length: concurrency }, async () => {
      for (const item of left) await work(item)
    }),
  )
}

/** Does the same `count` times at once. */
export const concurrently = <T>(count: number, work: (nth: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => work(nth)))

/** Fails where work takes longer than that, ms. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`timed out after ${ms / 1000} s`)), ms)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** How long each request of a load took, ms, and how long all of them together took, s. */
export interface Timed {
  readonly times: readonly number[]
  readonly seconds: number
}

/** Repeats work for so long on each of so many connections, which wait for nothing but their own. */
export async function repeatFor(
  seconds: number,
  connections: number,
  work: (connection: number) => Promise<unknown>,
): Promise<Timed> {
  const times: number[] = []
  const began = performance.now()
  await concurrently(connections, async (connection) => {
    while (performance.now() - began < seconds * 1000) {
      const sentAt = performance.now()
      await work(connection)
      times.push(performance.now() - sentAt)
    }
  })
  return { times, seconds: (performance.now() - began) / 1000 }
}
