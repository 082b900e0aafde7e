import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from './failure.ts'

/* Time limits of tool calls and waits. http-exchange.ts has the limits of single requests. */

/** Time limit of a tool call, ms. Clients commonly give up after 60 s. */
export const requestMs = 54_000

/**
 * Runs `work` with a signal that fires after `ms`, or when the caller's signal fires. If the time
 * limit cancels the work, throws a timeout in place of the cancellation. Throws ApiError.
 */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), Math.max(0, ms))
  try {
    return await work(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
  } catch (error) {
    const isLate = limit.signal.aborted && !signal?.aborted
    if (!(error instanceof ApiError) || error.failure.kind !== 'cancelled' || !isLate) throw error
    const { maybeSent } = error.failure
    throw new ApiError({ kind: 'timeout', waitingFor: 'headers', afterMs: ms, maybeSent }, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Result of `work`. If the signal fires first, throws `errorOf()`; `work` itself continues. */
export async function rejectOnAbort<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  errorOf: () => Error,
): Promise<T> {
  if (!signal) return work
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  const stop = () => reject(errorOf())
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop))
}

/** Result of `work`, or `fallback` after `ms` or when the signal fires. `work` itself continues. */
export async function resultOr<T, F>(
  work: Promise<T>,
  fallback: (reason: 'late' | 'aborted') => F,
  { ms, signal }: { readonly ms: number; readonly signal?: AbortSignal | undefined },
): Promise<T | F> {
  const finished = new AbortController()
  const late = sleep(ms, undefined, {
    signal: signal ? AbortSignal.any([signal, finished.signal]) : finished.signal,
  }).then(
    () => fallback('late'),
    () => fallback('aborted'),
  )
  return Promise.race([work, late]).finally(() => finished.abort())
}

/** Waits for `ms`, or until the signal fires. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await sleep(ms, undefined, signal && { signal }).catch(() => undefined)
}
