import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import timers from 'node:timers/promises'
import { simulateBoot } from '../../../src/state/clocks.ts'

/*
 * Time and randomness of a simulated machine, in place of those of this process: the program runs
 * unchanged. Only for a process or a worker that does nothing else.
 */

/** Ordered by time, then by when they were set. */
interface Timer {
  readonly at: number
  readonly run: () => void
}

/** The time of day when a history begins, ms since 1970. */
const firstDay = Date.UTC(2026, 0, 15, 12)

/** How long the machine has been running when a history begins, ms. */
const firstUptimeMs = 5 * 24 * 3_600_000

const realImmediate = setImmediate

/** Resolves when nothing can go on without a timer. */
const quiet = () => new Promise<void>((resolve) => void realImmediate(resolve))

export class VirtualTime {
  #now = 0
  #dayShift = 0
  #startedAt = -firstUptimeMs
  #starts = 0
  readonly #machine = new AsyncLocalStorage<string>()
  #timers: Timer[] = []
  #random: () => number

  constructor(random: () => number) {
    this.#random = random
    current = this
    install()
  }

  /** True time since the history began, ms. It is also that of `performance.now`. */
  get now(): number {
    return this.#now
  }

  /** The time of day by the clock of the machine, which may be wrong, ms since 1970. */
  get timeOfDay(): number {
    return Math.floor(firstDay + this.#now) + this.#dayShift
  }

  /** The time of day by the platform's clock, which is right. */
  get platformTimeOfDay(): number {
    return Math.floor(firstDay + this.#now)
  }

  stepClock(byMs: number): void {
    this.#dayShift += byMs
  }

  restartMachine(): void {
    this.#startedAt = this.#now
    this.#starts++
  }

  /** Runs work on one of several machines, which have the same clocks and are started together. */
  onMachine<T>(name: string, work: () => T): T {
    return this.#machine.run(name, work)
  }

  /** Which start of which machine it is. */
  get boot(): string {
    return `${this.#machine.getStore() ?? 'machine'}, start ${this.#starts}`
  }

  /** Runs `work` in so many ms. Returns the function that prevents it. */
  after(ms: number, run: () => void): () => void {
    // A negative time is over at once.
    const timer = { at: this.#now + Math.max(ms || 0, 0), run }
    const before = this.#timers.findLastIndex(({ at }) => at <= timer.at)
    this.#timers.splice(before + 1, 0, timer)
    return () => {
      const index = this.#timers.indexOf(timer)
      if (index >= 0) this.#timers.splice(index, 1)
    }
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  /** Lets time pass until `work` has ended. Throws where that takes longer than `maxMs`. */
  async run<T>(work: Promise<T>, maxMs: number): Promise<T> {
    const end = this.#now + maxMs
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    for (;;) {
      await quiet()
      if (isOver) return work
      const timer = this.#timers.shift()
      if (!timer) throw new Error('The history stops: nothing is left that could go on')
      if (timer.at > end) throw new Error(`The history does not end within ${maxMs} ms`)
      this.#now = Math.max(this.#now, timer.at)
      timer.run()
    }
  }

  random(): number {
    return this.#random()
  }

  /** As uptime() of node:os, seconds. */
  get uptime(): number {
    return (this.#now - this.#startedAt) / 1000
  }
}

let current: VirtualTime | undefined
let isInstalled = false

/** The time of the history that runs now. */
function running(): VirtualTime {
  if (!current) throw new Error('No history runs')
  return current
}

function install(): void {
  if (isInstalled) return
  isInstalled = true
  const set = (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
    new TimerHandle(running().after(ms, () => run(...args)))
  const clear = (handle: unknown) => {
    if (handle instanceof TimerHandle) handle.clear()
  }
  Object.assign(globalThis, { setTimeout: set, clearTimeout: clear })
  Object.assign(performance, { now: () => running().now })
  Object.assign(Date, { now: () => running().timeOfDay })
  Object.assign(Math, { random: () => running().random() })
  Object.assign(timers, { setTimeout: abortableSleep })
  Object.assign(os, { uptime: () => running().uptime })
  simulateBoot(() => running().boot)
  Object.assign(crypto, { randomBytes, randomUUID })
  syncBuiltinESMExports()
}

const randomBytes = (count: number) =>
  Buffer.from(Array.from({ length: count }, () => Math.floor(running().random() * 256)))

const randomUUID = () =>
  randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

/** As `setTimeout` of node:timers/promises. */
function abortableSleep<T>(
  ms: number,
  value: T,
  { signal }: { signal?: AbortSignal } = {},
): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const clear = running().after(ms, () => {
    signal?.removeEventListener('abort', stop)
    resolve(value)
  })
  const stop = () => {
    clear()
    reject(new DOMException('The operation was aborted', 'AbortError'))
  }
  if (signal?.aborted) stop()
  else signal?.addEventListener('abort', stop, { once: true })
  return promise
}

/** What the global `setTimeout` returns. */
class TimerHandle {
  readonly clear: () => void

  constructor(clear: () => void) {
    this.clear = clear
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }
}
