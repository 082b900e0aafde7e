import { type Journal, JournalError } from '../../../src/state/journal.ts'
import type { VirtualTime } from './virtual-time.ts'

interface StepOptions {
  readonly time: VirtualTime
  readonly random: () => number
  readonly name: string
  readonly trace: (line: string) => void
  readonly crashRate: number
  readonly failureRate: number
  readonly longestMs: number
  /** Called when the server stops by itself. */
  readonly onCrash: () => void
}

/**
 * The steps of one server on what outlives it. At each of them it may be delayed, fail (before or
 * after the step took effect) or stop for ever. Between two steps it changes nothing, so this is the
 * same as stopping anywhere.
 */
export class Steps {
  #isAlive = true
  #isCalm = false
  readonly #options: StepOptions

  constructor(options: StepOptions) {
    this.#options = options
  }

  get isAlive(): boolean {
    return this.#isAlive
  }

  stop(): void {
    this.#isAlive = false
  }

  /** From now on steps neither fail nor stop. */
  calm(): void {
    this.#isCalm = true
  }

  async take<T>(what: string, work: () => Promise<T>, errorOf: (why: string) => Error): Promise<T> {
    await this.#pass(`before ${what}`)
    this.#mayFail(`before ${what}`, errorOf)
    const result = await work()
    await this.#pass(`after ${what}`)
    this.#mayFail(`after ${what}`, errorOf)
    return result
  }

  async #pass(where: string): Promise<void> {
    const { time, random, longestMs, crashRate, onCrash, name, trace } = this.#options
    if (this.#isAlive && !this.#isCalm) {
      if (longestMs > 0 && random() < 0.5) await time.sleep(Math.floor(random() * longestMs))
      if (this.#isAlive && crashRate > 0 && random() < crashRate) {
        trace(`${name}: stops ${where}`)
        this.stop()
        onCrash()
      }
    }
    if (!this.#isAlive) await new Promise(() => undefined)
  }

  #mayFail(where: string, errorOf: (why: string) => Error): void {
    const { random, failureRate, name, trace } = this.#options
    if (this.#isCalm || failureRate === 0 || random() >= failureRate) return
    trace(`${name}: fails ${where}`)
    throw errorOf(`${name}: simulated failure ${where}`)
  }
}

const journalError = (why: string) => new JournalError(why)

/** A journal as one server uses it. */
export function steppedJournal(journal: Journal, steps: Steps): Journal {
  const step = <T>(what: string, work: () => Promise<T>) => steps.take(what, work, journalError)
  return {
    claim: (identity) => step('claim', () => journal.claim(identity)),
    find: (identity) => step('find', () => journal.find(identity)),
    current: (entry) => step('current', () => journal.current(entry)),
    beginSending: (entry, forMs) => step('beginSending', () => journal.beginSending(entry, forMs)),
    endSending: (entry) => step('endSending', () => journal.endSending(entry)),
    recordPlaced: (entry, id) => step('recordPlaced', () => journal.recordPlaced(entry, id)),
    recordNotAccepted: (entry, id) =>
      step('recordNotAccepted', () => journal.recordNotAccepted(entry, id)),
    release: (entry) => step('release', () => journal.release(entry)),
    placedAgoMs: (owner, id) => step('placedAgoMs', () => journal.placedAgoMs(owner, id)),
    readNote: (name) => step('readNote', () => journal.readNote(name)),
    writeNote: (name, value) => step('writeNote', () => journal.writeNote(name, value)),
    close: async () => undefined,
  }
}
