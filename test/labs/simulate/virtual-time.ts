import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import timers from 'node:timers/promises'
import { simulateBoot } from '../../../src/state/clocks.ts'

/*
 * Replaces the time and randomness of this process (timers, clocks, random numbers) by those of a
 * simulated machine, so that the program runs unchanged. Only for a process or worker that does
 * nothing else.
 */

/** A pending timer. Timers are sorted by time, then by creation. */
interface Timer {
  readonly at: number
  readonly run: () => void
}

/** The time of day when a history begins, ms since 1970. */
const firstDay = Date.UTC(2026, 0, 15, 12)

/** Uptime of the machine when a history begins, ms. */
const firstUptimeMs = 5 * 24 * 3_600_000

const realImmediate = setImmediate

/** Resolves when all work is waiting for timers. */
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

  /** Time since the history began, ms, unaffected by clock changes; also `performance.now`. */
  get now(): number {
    return this.#now
  }

  /** Time of day by the machine's clock, which may be wrong, ms since 1970. */
  get timeOfDay(): number {
    return Math.floor(firstDay + this.#now) + this.#dayShift
  }

  /** Time of day by the platform's clock, which is always right, ms since 1970. */
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

  /** Runs work on a named machine. All machines have the same clocks and restart together. */
  onMachine<T>(name: string, work: () => T): T {
    return this.#machine.run(name, work)
  }

  /** Boot id: the machine and the number of its restarts. */
  get boot(): string {
    return `${this.#machine.getStore() ?? 'machine'}, start ${this.#starts}`
  }

  /** Runs `run` after `ms`. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void {
    // Negative and invalid times count as 0.
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

  /**
   * Advances time until `work` has ended. Throws if that takes more than `maxMs`, or if no timer is
   * left.
   */
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

  /** Replacement of `os.uptime`, s. */
  get uptime(): number {
    return (this.#now - this.#startedAt) / 1000
  }
}

let current: VirtualTime | undefined
let isInstalled = false

/** The virtual time of the running history. */
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

/** Replacement of `setTimeout` in node:timers/promises. */
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

/** Result of the replaced global `setTimeout`. */
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
