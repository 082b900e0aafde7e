import { ApiError } from '../api/failure.ts'

/**
 * Does what may take so long at most, ms; `work` is given a signal for that. Throws ApiError: what
 * takes longer has timed out, what the caller's signal ends is cancelled.
 */
export async function within<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const timer = setTimeout(() => late.abort(), Math.max(0, ms))
  try {
    return await work(signal ? AbortSignal.any([signal, late.signal]) : late.signal)
  } catch (error) {
    const isLate = late.signal.aborted && !signal?.aborted
    if (!(error instanceof ApiError) || error.failure.kind !== 'cancelled' || !isLate) throw error
    const { maybeSent } = error.failure
    throw new ApiError({ kind: 'timeout', waitingFor: 'headers', afterMs: ms, maybeSent }, error)
  } finally {
    clearTimeout(timer)
  }
}

/** Waits for what goes on in any case; once the signal fires, for no longer: then it throws `why`. */
export async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  why: () => Error,
): Promise<T> {
  if (!signal) return work
  const { promise: stopped, reject } = Promise.withResolvers<never>()
  const stop = () => reject(why())
  signal.addEventListener('abort', stop)
  if (signal.aborted) stop()
  return Promise.race([work, stopped]).finally(() => signal.removeEventListener('abort', stop))
}
