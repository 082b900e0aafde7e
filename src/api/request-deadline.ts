import { type Cancelled, SendFailure, type TimedOut } from './failure.ts'
import type { WireRequest } from './send.ts'

/** The longest that one request may take, ms. */
export interface RequestTimeLimits {
  /** Until the first byte of a reply. */
  readonly headersTimeoutMs: number
  /** Until the whole reply. */
  readonly totalTimeoutMs: number
}

/** Ends a request that takes too long, or whose caller has given up. */
export interface RequestDeadline {
  /** Why the request was ended; `undefined` while it was not. */
  readonly failure: SendFailure | undefined
  /** Called when the request is ended. */
  onFailure: (failure: SendFailure) => void
  /** To be called when the request is sent: until then, a failure says that nothing was sent. */
  sendingBegan(): void
  headersArrived(): void
  /** To be called when the request is over. */
  end(): void
}

/** One timer for the headers and one for the whole reply; time-limit.ts limits everything else. */
export function startRequestDeadline(
  { signal, timeLeftMs = Number.POSITIVE_INFINITY }: WireRequest,
  { headersTimeoutMs, totalTimeoutMs }: RequestTimeLimits,
): RequestDeadline {
  let ended: SendFailure | undefined
  let maybeSent = false
  const fail = (failure: Omit<TimedOut, 'maybeSent'> | Omit<Cancelled, 'maybeSent'>) => {
    ended ??= new SendFailure({ ...failure, maybeSent })
    deadline.onFailure(ended)
  }
  const failAfter = (waitingFor: 'headers' | 'body', afterMs: number) =>
    setTimeout(fail, afterMs, { kind: 'timeout', waitingFor, afterMs })
  const headers = failAfter('headers', Math.min(headersTimeoutMs, timeLeftMs))
  const total = failAfter('body', Math.min(totalTimeoutMs, timeLeftMs))
  const cancel = () => fail({ kind: 'cancelled' })
  const deadline: RequestDeadline = {
    get failure() {
      return ended
    },
    onFailure: () => undefined,
    sendingBegan() {
      maybeSent = true
    },
    headersArrived: () => clearTimeout(headers),
    end() {
      clearTimeout(headers)
      clearTimeout(total)
      signal?.removeEventListener('abort', cancel)
    },
  }
  if (signal?.aborted) cancel()
  signal?.addEventListener('abort', cancel)
  return deadline
}
