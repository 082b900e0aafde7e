import { appendFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { resultOr } from '../../platform/time-limit.ts'
import type { AuditEntry, AuditTrail, SentPhoneCall } from '../../state/audit-trail.ts'
import { makePrivateFolder } from '../../state/private-files.ts'
import { withoutStateDeadline } from '../../state/state-access.ts'
import { messageOf, safeJson } from '../../text/safe-text.ts'

/** An audit entry of a tool call, or the line that records one telephone call before it is sent. */
export type AuditRecord = AuditEntry | SentPhoneCall

/**
 * Destination of the audit trail: the state, a file or standard error. Methods throw while it is
 * unavailable.
 */
export interface AuditSink {
  /** Destination as messages name it: `in the state`. */
  readonly name: string
  /**
   * Adds an entry, or replaces the entry with the same id. Sinks with `savePhoneCall` cannot replace.
   */
  readonly save: (entry: AuditEntry) => Promise<void>
  /**
   * Appends the line of a telephone call. Only sinks of lines have this method; they get no
   * intermediate states of an entry.
   */
  readonly savePhoneCall?: (call: SentPhoneCall) => Promise<void>
}

const isCall = (record: AuditRecord): record is SentPhoneCall => record.outcome === 'sent'

/** Maximum queued entries while a sink is unavailable. Further entries evict the oldest. */
const maxWaiting = 1000

const waits = {
  /** Pause before a failed save is retried, ms. */
  again: 5000,
  /** Longest delay of a tool call whose record is optional, ms. */
  beforeCall: 2000,
  /** Longest delay of shutdown, ms. */
  atEnd: 5000,
} as const

/**
 * Saves entries to one sink, one after the other, without delaying the tool's answer. Failed saves
 * are retried.
 */
export class AuditQueue {
  readonly sink: AuditSink
  readonly #onTrouble: (message: string) => void
  /** Waiting entries by id, so that only the latest state of each is saved. */
  readonly #waiting = new Map<string, AuditRecord>()
  #draining: Promise<void> | undefined
  #isFailing = false
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(sink: AuditSink, onTrouble: (message: string) => void) {
    this.sink = sink
    this.#onTrouble = onTrouble
  }

  /** Bypasses the queue. Throws if the entry cannot be saved. */
  async saveNow(entry: AuditRecord): Promise<void> {
    await this.#save(entry)
    this.#works()
  }

  /** Saves an entry within `beforeCall` ms, else later. Never throws. */
  async saveSoon(entry: AuditRecord): Promise<void> {
    if (this.#isFailing) return this.add(entry)
    // Bypasses the queue, which is never empty on a busy server.
    const saving = withoutStateDeadline(() => this.saveNow(entry)).catch((error: unknown) => {
      this.#failed(error)
      this.add(entry)
    })
    await resultOr(saving, () => undefined, { ms: waits.beforeCall })
  }

  add(entry: AuditRecord): void {
    const isOlder = entry.outcome === 'begun' && this.#waiting.has(entry.id)
    if (this.#isClosed || isOlder) return
    // Deleted first, so that the latest state goes to the end of the map.
    this.#waiting.delete(entry.id)
    this.#waiting.set(entry.id, entry)
    if (this.#waiting.size > maxWaiting) this.#dropOldest()
    if (!this.#retry) this.#drain()
  }

  /**
   * Tries once more to save the waiting entries, within `atEnd` ms. The rest is lost and reported.
   */
  async close(): Promise<void> {
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#drain()
    if (this.#draining) await resultOr(this.#draining, () => undefined, { ms: waits.atEnd })
    this.#isClosed = true
    clearTimeout(this.#retry)
    const { size } = this.#waiting
    const lost = size === 1 ? '1 audit entry' : `${size} audit entries`
    if (size > 0) this.#onTrouble(`${lost} could not be saved ${this.sink.name}.`)
    this.#waiting.clear()
  }

  async #save(record: AuditRecord): Promise<void> {
    await (isCall(record) ? this.sink.savePhoneCall?.(record) : this.sink.save(record))
  }

  #drain(): void {
    if (this.#draining || this.#waiting.size === 0) return
    this.#draining = withoutStateDeadline(() => this.#saveAll())
  }

  async #saveAll(): Promise<void> {
    for (;;) {
      const [entry] = this.#waiting.values()
      if (!entry) break
      try {
        await this.#save(entry)
      } catch (error) {
        this.#failed(error)
        break
      }
      this.#works()
      // A later state may have replaced the entry meanwhile.
      if (this.#waiting.get(entry.id) === entry) this.#waiting.delete(entry.id)
    }
    // Set in the same tick as the last check, so that no entry added in between stays unsaved.
    this.#draining = undefined
  }

  #failed(error: unknown): void {
    if (!this.#isFailing) {
      this.#onTrouble(`Audit entries cannot be saved ${this.sink.name} now: ${messageOf(error)}`)
    }
    this.#isFailing = true
    clearTimeout(this.#retry)
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#drain()
    }, waits.again).unref()
  }

  #works(): void {
    if (this.#isFailing) this.#onTrouble(`Audit entries are saved ${this.sink.name} again.`)
    this.#isFailing = false
  }

  #dropOldest(): void {
    const [oldest] = this.#waiting.keys()
    if (oldest === undefined) return
    this.#waiting.delete(oldest)
    this.#onTrouble(`An audit entry was lost, because ${maxWaiting} others wait: ${oldest}.`)
  }
}

const dayMs = 24 * 3_600_000

/** Interval at which expired entries are deleted, ms, and entries per DELETE statement. */
const pruning = { everyMs: 3_600_000, batchSize: 500 } as const

/** Sink that stores entries in the state. Entries expire after `days`. */
export function stateSink(trail: AuditTrail, days: number): AuditSink {
  let pruned = Number.NEGATIVE_INFINITY
  let isPruning = false
  const prune = async () => {
    if (isPruning || performance.now() - pruned < pruning.everyMs) return
    isPruning = true
    try {
      const count = await trail.prune(Date.now() - days * dayMs, pruning.batchSize)
      // After a full batch, the next save deletes another one, so that no save waits for a long
      // deletion.
      if (count < pruning.batchSize) pruned = performance.now()
    } finally {
      isPruning = false
    }
  }
  return {
    name: 'in the state',
    async save(entry) {
      await trail.save(entry)
      await prune()
    },
  }
}

/**
 * Sink that appends JSON lines to a file. Opens the file for each line, so the file may be moved or
 * deleted at any time. Only the user can read the file.
 */
export const fileSink = (path: string): AuditSink =>
  lineSink(`in ${path}`, async (line) => {
    await appendFile(path, line, { mode: 0o600 }).catch(async (error: unknown) => {
      if (!isMissing(error)) throw error
      makePrivateFolder(dirname(path))
      await appendFile(path, line, { mode: 0o600 })
    })
  })

const isMissing = (error: unknown) =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT'

/**
 * Maximum bytes that a stream may buffer for its reader. Beyond that, saving fails and is retried.
 */
const maxUnread = 1024 * 1024

/** Sink that writes JSON lines to a stream, such as standard error. */
export const streamSink = (
  stream: Pick<NodeJS.WritableStream, 'write'> & { readonly writableLength: number },
): AuditSink =>
  lineSink('on standard error', async (line) => {
    if (stream.writableLength > maxUnread) throw new Error('nobody reads it')
    stream.write(line)
  })

const lineSink = (name: string, write: (line: string) => Promise<void>): AuditSink => ({
  name,
  save: (entry) => write(lineOf('audit', entry)),
  savePhoneCall: (call) => write(lineOf('audit_call', call)),
})

/** A record as a line of a JSON log. */
const lineOf = (event: 'audit' | 'audit_call', { time, ...record }: AuditRecord): string =>
  `${safeJson(JSON.stringify({ time, level: 'notice', event, ...record }))}\n`
