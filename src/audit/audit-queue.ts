import type { AuditEntry } from '../state/audit-trail.ts'

/** Where entries are kept or written. */
export interface AuditSink {
  /** What it is, for messages. */
  readonly name: string
  /** Throws where it cannot be used. */
  readonly save: (entry: AuditEntry) => Promise<void>
  /** Whether it also takes entries of calls that go on, each time something was done. */
  readonly takesProgress: boolean
}

/** Entries that wait for a sink which cannot be used; further ones push out the oldest. */
const mostWaiting = 1000

const waits = {
  /** Until what failed is tried again, ms. */
  again: 5000,
  /** Longest that a call is held up where it need not be recorded, ms. */
  beforeCall: 2000,
  /** Longest that the end of the program is held up, ms. */
  atEnd: 5000,
} as const

/** Saves entries behind the answers, one after the other, and again what has failed. */
export class AuditQueue {
  readonly sink: AuditSink
  readonly #onTrouble: (message: string) => void
  /** By id: of an entry that waits only the latest state is saved. */
  readonly #waiting = new Map<string, AuditEntry>()
  #draining: Promise<void> | undefined
  #isFailing = false
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(sink: AuditSink, onTrouble: (message: string) => void) {
    this.sink = sink
    this.#onTrouble = onTrouble
  }

  /** Saves an entry now; throws where that fails. */
  async saveNow(entry: AuditEntry): Promise<void> {
    await this.sink.save(entry)
    this.#works()
  }

  /** Saves an entry now, if that can be done soon; otherwise later. Never throws. */
  async saveSoon(entry: AuditEntry): Promise<void> {
    if (this.#isFailing) return this.add(entry)
    // Not behind others that wait: a busy server always has some.
    const saving = this.saveNow(entry).catch((error: unknown) => {
      this.#failed(error)
      this.add(entry)
    })
    await within(waits.beforeCall, saving)
  }

  /** Saves an entry behind the answer. */
  add(entry: AuditEntry): void {
    const isOlder = entry.outcome === 'begun' && this.#waiting.has(entry.id)
    if (this.#isClosed || isOlder) return
    // Removed first: the latest is the last.
    this.#waiting.delete(entry.id)
    this.#waiting.set(entry.id, entry)
    if (this.#waiting.size > mostWaiting) this.#dropOldest()
    if (!this.#retry) this.#drain()
  }

  /** Saves what waits, once more if it failed before. */
  async close(): Promise<void> {
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#drain()
    await within(waits.atEnd, this.#draining)
    this.#isClosed = true
    clearTimeout(this.#retry)
    const { size } = this.#waiting
    if (size > 0) this.#onTrouble(`${size} audit entries were lost: ${this.sink.name}.`)
    this.#waiting.clear()
  }

  #drain(): void {
    if (this.#draining || this.#waiting.size === 0) return
    this.#draining = this.#saveAll()
  }

  async #saveAll(): Promise<void> {
    for (;;) {
      const [entry] = this.#waiting.values()
      if (!entry) break
      try {
        await this.sink.save(entry)
      } catch (error) {
        this.#failed(error)
        break
      }
      this.#works()
      // A later state may have taken its place meanwhile.
      if (this.#waiting.get(entry.id) === entry) this.#waiting.delete(entry.id)
    }
    // Right after the last look, so that no entry is added in between.
    this.#draining = undefined
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      const reason = error instanceof Error ? error.message : String(error)
      this.#onTrouble(`Audit entries cannot be saved now, ${this.sink.name}: ${reason}`)
    }
    this.#isFailing = true
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#drain()
    }, waits.again).unref()
  }

  #works(): void {
    if (this.#isFailing) this.#onTrouble(`Audit entries are saved again: ${this.sink.name}.`)
    this.#isFailing = false
  }

  #dropOldest(): void {
    const [oldest] = this.#waiting.keys()
    if (oldest === undefined) return
    this.#waiting.delete(oldest)
    this.#onTrouble(`An audit entry was lost, because ${mostWaiting} others wait: ${oldest}.`)
  }
}

/** Waits for some work, for so long at most. */
async function within(ms: number, work: Promise<void> | undefined): Promise<void> {
  if (!work) return
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, over])
  clearTimeout(timer)
}
