import { AsyncLocalStorage } from 'node:async_hooks'

/*
 * Access to the state: its parts open on first use, a request waits for them at most until its
 * deadline, and failures are StateErrors.
 */

type StateErrorOptions = ErrorOptions & { readonly isTemporary?: boolean }

/**
 * Thrown if the state cannot be read or written. Operations that depend on it are then not done.
 * The message names the place and the remedy.
 */
export class StateError extends Error {
  override readonly name: string = 'StateError'
  /** True if the state is only unreachable at the moment, and recovers without a change here. */
  readonly isTemporary: boolean

  constructor(message: string, options: StateErrorOptions = {}) {
    super(message, options)
    this.isTemporary = options.isTemporary ?? false
  }
}

/** A resource that is opened on first use. */
interface OpenOnce<T> {
  /** Opens the resource, or waits until it is open. After a failure the next use tries again. */
  readonly get: () => Promise<T>
  /** Closes the resource if it is open; the next use reopens it. */
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
 * Limits how long a request waits for the state. A request has one deadline and may use a slow
 * state many times: each use waits at most until the deadline.
 */

/** The deadline of one request, and how long the request has waited for the state. */
interface StateDeadline {
  /** Deadline, as a time of `performance.now`, ms. */
  readonly until: number
  waitedMs: number
}

const requests = new AsyncLocalStorage<StateDeadline | undefined>()

/** Runs a request whose waits for the state end at `until`, a time of `performance.now`, ms. */
export const withStateDeadline = <T>(until: number, work: () => T): T =>
  requests.run({ until, waitedMs: 0 }, work)

/**
 * Runs work that continues after the reply to the request. The request's deadline does not apply to
 * it.
 */
export const withoutStateDeadline = <T>(work: () => T): T => requests.run(undefined, work)

/**
 * Deadline of the current request, as a time of `performance.now`, ms. Infinity outside a request.
 */
export const stateDeadline = (): number => requests.getStore()?.until ?? Number.POSITIVE_INFINITY

/** Total wait from which a late request counts as delayed by the state, ms. */
const slowMs = 8000

/** True if waiting for the state has used up much of the current request's time. */
export const isStateSlow = (): boolean => (requests.getStore()?.waitedMs ?? 0) >= slowMs

/**
 * Waits for a use of the state until the request's deadline. Throws if there is no result by then.
 * The use itself continues: if it succeeds later, `undo` gets its result.
 */
export async function withinStateDeadline<T>(
  use: () => Promise<T>,
  undo: (late: T) => Promise<unknown> = async () => undefined,
): Promise<T> {
  const request = requests.getStore()
  if (!request || request.until === Number.POSITIVE_INFINITY) return use()
  const began = performance.now()
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Error("it did not answer before the request's deadline")),
    Math.max(0, request.until - began),
  )
  let isOver = false
  const using = use()
  using
    .then((result) => (isOver ? withoutStateDeadline(() => undo(result)) : undefined))
    .catch(ignore)
  try {
    return await Promise.race([using, late])
  } finally {
    isOver = true
    clearTimeout(timer)
    request.waitedMs += performance.now() - began
  }
}

const ignore = () => undefined
