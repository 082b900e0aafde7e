import { type CallCounter, CallCounterError } from '../../../src/state/call-counter.ts'
import type { Journal } from '../../../src/state/journal.ts'
import { createPostgresJournal } from '../../../src/state/postgres/postgres-journal.ts'
import type { Records } from '../../../src/state/records.ts'
import { createSqliteCallCounter } from '../../../src/state/sqlite/sqlite-call-counter.ts'
import { openSqliteJournal } from '../../../src/state/sqlite/sqlite-journal.ts'
import { createSqliteRecords } from '../../../src/state/sqlite/sqlite-records.ts'
import { StateError } from '../../../src/state/state-access.ts'
import type { Plan } from './plan.ts'
import { SimulatedDatabase } from './simulated-database.ts'
import type { Steps } from './steps.ts'
import type { VirtualTime } from './virtual-time.ts'

/** A call that was counted for the limits. */
export interface Reserved {
  readonly id: string
  /** True time, ms since the history began. */
  readonly at: number
  /** By the clock of the machine, by which limits are counted. */
  readonly timeOfDay: number
}

/** What the servers of a machine share, in SQLite databases in memory, and what happened to it. */
export class SharedState {
  /** The journal in files; with a database each server has its own. */
  readonly #journal: Journal
  readonly #database: SimulatedDatabase
  readonly #counter: CallCounter
  readonly #records: Records & { close(): Promise<void> }
  readonly #time: VirtualTime
  readonly reserved: Reserved[] = []
  /** How often each token was used, less how often it was given back. */
  readonly #tokenUses = new Map<string, number>()
  /** Tokens that were used while they were used already. */
  readonly usedTwice: string[] = []

  private constructor(journal: Journal, time: VirtualTime) {
    this.#journal = journal
    this.#database = new SimulatedDatabase(time)
    this.#time = time
    this.#counter = createSqliteCallCounter(':memory:', 'the simulation')
    this.#records = createSqliteRecords(':memory:', 'the simulation')
  }

  static async open(time: VirtualTime): Promise<SharedState> {
    const state = new SharedState(await openSqliteJournal(':memory:'), time)
    // Opened before time begins: that is not a matter of timers.
    await state.#counter.check({})
    await state.#records.get({ kind: 'used_token', id: '' })
    return state
  }

  /** Whether a call counts as under way. */
  async isCallCounted(): Promise<boolean> {
    return (await this.#counter.check({ max_at_once: 1 })) !== undefined
  }

  /** As a server that starts now opens it. */
  journalFor(shared: Plan['shared']): Journal {
    return shared === 'files' ? this.#journal : createPostgresJournal(this.#database.connect())
  }

  counterFor(steps: Steps): CallCounter {
    const counter = this.#counter
    const step = <T>(what: string, work: () => Promise<T>) =>
      steps.take(what, work, (why) => new CallCounterError(why))
    return {
      check: (limits) => step('check', () => counter.check(limits)),
      reserve: (limits, leaseMs, call) =>
        step('reserve', async () => {
          const reservation = await counter.reserve(limits, leaseMs, call)
          const { now: at, timeOfDay } = this.#time
          if ('id' in reservation) this.reserved.push({ id: reservation.id, at, timeOfDay })
          return reservation
        }),
      pending: (call) => step('pending', () => counter.pending(call)),
      placed: (id, call) => step('placed', () => counter.placed(id, call)),
      open: (owner, withinMs) => step('open', () => counter.open(owner, withinMs)),
      renew: (id, leaseMs) => step('renew', () => counter.renew(id, leaseMs)),
      release: (id) => step('release of a permit', () => counter.release(id)),
      cancel: (id) => step('cancel of a permit', () => counter.cancel(id)),
      close: async () => undefined,
    }
  }

  recordsFor(steps: Steps): Records {
    const records = this.#records
    const step = <T>(what: string, work: () => Promise<T>) =>
      steps.take(what, work, (why) => new StateError(why))
    return {
      get: (key) => step('read of a token', () => records.get(key)),
      add: (record, bounds) => step('use of a token', () => records.add(record, bounds)),
      put: (record, bounds) => step('write of a record', () => records.put(record, bounds)),
      replace: (record, from) => step('write of a record', () => records.replace(record, from)),
      remove: (key) =>
        step('return of a token', async () => {
          const removed = await records.remove(key)
          if (removed) this.#tokenUses.set(key.id, Math.max(0, this.#usesOf(key.id) - 1))
          return removed
        }),
    }
  }

  /** A request was told that it may act on a token: a use that expired meanwhile is none. */
  tokenUsed(id: string): void {
    if (this.#usesOf(id) > 0) this.usedTwice.push(id)
    this.#tokenUses.set(id, this.#usesOf(id) + 1)
  }

  #usesOf(id: string): number {
    return this.#tokenUses.get(id) ?? 0
  }

  async close(): Promise<void> {
    await this.#journal.close()
    this.#database.close()
    await this.#counter.close()
    await this.#records.close()
  }
}
