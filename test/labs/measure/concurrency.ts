/** Runs the same work `count` times concurrently. */
export const concurrently = <T>(count: number, work: (nth: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, nth) => work(nth)))

/** Rejects if work takes longer than `ms`. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`timed out after ${ms / 1000} s`)), ms)
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

/** Latency of each request of a load, ms, and the duration of the load, s. */
export interface Timed {
  readonly times: readonly number[]
  readonly seconds: number
}

/**
 * Repeats work for a time on several connections. Each connection waits only for its own requests.
 */
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
