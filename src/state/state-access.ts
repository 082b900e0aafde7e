import { AsyncLocalStorage } from 'node:async_hooks'

/*
 * How everything that uses the state reaches it: it is opened with its first use, waited for no longer than
 * the request has time, and fails with a StateError.
 */

export type StateErrorOptions = ErrorOptions & { readonly isTemporary?: boolean }

/**
 * The state cannot be read or written. The message says where it is and what to do. Nothing that
 * depends on it is done.
 */
export class StateError extends Error {
  override readonly name: string = 'StateError'
  /** It will be usable again without a change by anybody here: it cannot be reached at the moment. */
  readonly isTemporary: boolean

  constructor(message: string, options: StateErrorOptions = {}) {
    super(message, options)
    this.isTemporary = options.isTemporary ?? false
  }
}

/** Something that is opened with its first use. */
interface OpenOnce<T> {
  /** Opens it, or waits until it is open. After a failure the next use tries again. */
  readonly get: () => Promise<T>
  /** Closes it if it was opened; the next use opens it again. */
  readonly close: (close: (opened: T) => void | Promise<void>) => Promise<void>
}

export function openOnce<T>(open: () => Promise<T>): OpenOnce<T> {
  let opening: Promise<T> | undefined
  const start = () => {
    const started = open()
    started.catch(() => {
      if (opening === started) opening = undefined
    })
    return started
  }
  return {
    get: () => {
      opening ??= start()
      return opening
    },
    async close(close) {
      const opened = await opening?.catch(() => undefined)
      opening = undefined
      if (opened !== undefined) await close(opened)
    },
  }
}

/*
 * How long a request waits for the state. A request has one deadline for everything it does, and a state
 * that is slow is used many times in it: each use waits until the deadline at most.
 */

/** The time of one request. */
class StateTime {
  /** By `performance.now`, ms. */
  readonly until: number
  waitedMs = 0

  constructor(until: number) {
    this.until = until
  }
}

const requests = new AsyncLocalStorage<StateTime | undefined>()

/** Runs a request, which waits for the state until then at most, by `performance.now`. */
export const withStateTime = <T>(until: number, work: () => T): T =>
  requests.run(new StateTime(until), work)

/** Runs work that goes on behind the answer of the request that has begun it. */
export const behindTheAnswer = <T>(work: () => T): T => requests.run(undefined, work)

/** Until when the current request waits for the state, by `performance.now`; infinite without one. */
export const stateUntil = (): number => requests.getStore()?.until ?? Number.POSITIVE_INFINITY

/** From which time on the state has made a request late that had no time left, ms. */
const slowMs = 8000

/** Whether the state has taken much of the time of the current request. */
export const isStateSlow = (): boolean => (requests.getStore()?.waitedMs ?? 0) >= slowMs

/**
 * The result of a use of the state, where it comes in time; else throws. The use itself goes on: where it
 * succeeds later, `undo` is given what nobody waits for any more.
 */
export async function inStateTime<T>(
  use: () => Promise<T>,
  undo: (late: T) => Promise<unknown> = async () => undefined,
): Promise<T> {
  const request = requests.getStore()
  if (!request || request.until === Number.POSITIVE_INFINITY) return use()
  const began = performance.now()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error('it did not answer in the time of the request')),
    Math.max(0, request.until - began),
  )
  let isOver = false
  const using = use()
  using.then((result) => (isOver ? behindTheAnswer(() => undo(result)) : undefined)).catch(ignore)
  try {
    return await Promise.race([using, late])
  } finally {
    isOver = true
    clearTimeout(timer)
    request.waitedMs += performance.now() - began
  }
}

const ignore = () => undefined
