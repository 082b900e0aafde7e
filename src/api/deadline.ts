import { type Cancelled, SendFailure, type TimedOut } from './failure.ts'
import type { WireRequest } from './send.ts'

/** The longest that one request may take, ms, and who may end it before. */
export interface Limits {
  /** Until the first byte of a reply. */
  readonly headersTimeoutMs: number
  /** Until the whole reply. */
  readonly totalTimeoutMs: number
}

/** Ends a request that takes too long, or that nobody waits for any more. */
export interface Deadline {
  /** Why it struck; `undefined` while it has not. */
  readonly struck: SendFailure | undefined
  /** Told when it strikes. */
  onStrike: (failure: SendFailure) => void
  /** Before this nothing has left: what waits for a connection is never sent after it struck. */
  sendingBegan(): void
  headersArrived(): void
  end(): void
}

export function startDeadline(
  { signal, timeLeftMs = Number.POSITIVE_INFINITY }: WireRequest,
  { headersTimeoutMs, totalTimeoutMs }: Limits,
): Deadline {
  let struck: SendFailure | undefined
  let maybeSent = false
  const strike = (failure: Omit<TimedOut, 'maybeSent'> | Omit<Cancelled, 'maybeSent'>) => {
    struck ??= new SendFailure({ ...failure, maybeSent })
    deadline.onStrike(struck)
  }
  const late = (waitingFor: 'headers' | 'body', afterMs: number) =>
    setTimeout(strike, afterMs, { kind: 'timeout', waitingFor, afterMs })
  const headers = late('headers', Math.min(headersTimeoutMs, timeLeftMs))
  const total = late('body', Math.min(totalTimeoutMs, timeLeftMs))
  const cancel = () => strike({ kind: 'cancelled' })
  const deadline: Deadline = {
    get struck() {
      return struck
    },
    onStrike: () => undefined,
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
