import { AsyncLocalStorage } from 'node:async_hooks'
import type { Route, RouteRequest } from '../../contract/route.ts'
import type { WriteAudit } from '../../platform/client.ts'
import { ApiError } from '../../platform/failure.ts'
import type { AuditEntry, AuditTrail, SentPhoneCall } from '../../state/audit-trail.ts'
import type { Journal } from '../../state/call-journal.ts'
import { type Ended, observed } from '../observe/observer.ts'
import { AuditQueue, fileSink, stateSink, streamSink } from './audit-sinks.ts'
import {
  type AuditedToolCall,
  type CallEnd,
  type ConfirmedBy,
  isQuestion,
  ToolCallRecord,
  type WriteRecord,
} from './tool-call-record.ts'

/*
 * The audit trail records every tool call that changes something or places phone or web calls, with
 * every request that the tool call sent. Its entry is saved before the first such request
 * (`begun`), so that a crash leaves a trace, and again at the end. Before a phone call is sent, the
 * called number is saved too. A request whose record cannot be saved is refused if `mustRecord` is
 * set; otherwise it waits at most 2 s for the save. A tool call that sends nothing is saved once.
 * Previews, questions and dry runs are not recorded.
 */

interface AuditOptions {
  /** Days that entries stay in the state; 0: none are stored. */
  readonly days: number
  /** File of JSON lines; `-`: standard error. */
  readonly file: string | undefined
  /** If true, changes that cannot be recorded are refused. */
  readonly mustRecord: boolean
  /** If true, telephone numbers are recorded in full. */
  readonly showsNumbers: boolean
}

/** Records tool calls, the requests that they send, and who confirmed them. */
export interface Audit extends WriteAudit {
  /**
   * Runs a tool call and records it. `endOf` derives the recorded outcome from the result or error.
   */
  toolCall<T>(
    call: AuditedToolCall,
    run: () => Promise<T>,
    endOf: (ended: Ended<T>) => CallEnd,
  ): Promise<T>
  /** Records a tool call that was refused before it ran. */
  refused(call: AuditedToolCall, end: CallEnd): void
  /** Records who confirmed the current tool call. */
  confirmed(by: ConfirmedBy): void
  /** Wraps a journal, so that late outcomes of telephone calls also reach the trail. */
  journal(journal: Journal): Journal
  close(): Promise<void>
}

/**
 * Opens the configured audit trail; `undefined`: nothing is recorded. `onTrouble` receives a
 * message if entries cannot be saved.
 */
export function openAudit(
  { days, file, mustRecord, showsNumbers }: AuditOptions,
  trail: AuditTrail,
  onTrouble: (message: string) => void,
): Audit | undefined {
  const lines = file === '-' ? streamSink(process.stderr) : file && fileSink(file)
  const sinks = [...(days > 0 ? [stateSink(trail, days)] : []), ...(lines ? [lines] : [])]
  if (sinks.length === 0) return undefined
  const queues = sinks.map((sink) => new AuditQueue(sink, onTrouble))
  const calls = new AsyncLocalStorage<AuditedRun>()
  const writes = new AsyncLocalStorage<WriteRecord>()
  const runOf = (call: AuditedToolCall) =>
    new AuditedRun(new ToolCallRecord(call, showsNumbers), queues, mustRecord)
  return {
    toolCall(call, run, endOf) {
      const underWay = runOf(call)
      const work = () => calls.run(underWay, run)
      return observed(work, (ended) => underWay.end(endOf(ended)))
    },
    refused: (call, end) => runOf(call).end(end),
    confirmed(by) {
      const underWay = calls.getStore()
      if (underWay) underWay.record.confirmedBy = by
    },
    write(route, request, send) {
      const underWay = calls.getStore()
      if (!underWay) return send()
      return underWay.send(route, request, (write) => writes.run(write, send))
    },
    tried(attempt) {
      const write = writes.getStore()
      if (write) write.tried(attempt)
      else calls.getStore()?.record.tried(attempt)
    },
    journal: (journal) => ({
      ...journal,
      recordPlaced(entry, callId) {
        calls.getStore()?.settle(entry.externalId, callId, true)
        return journal.recordPlaced(entry, callId)
      },
      recordNotAccepted(entry, callId) {
        calls.getStore()?.settle(entry.externalId, callId, false)
        return journal.recordNotAccepted(entry, callId)
      },
    }),
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
    },
  }
}

/** Minimum interval between two saves of a tool call with many writes, ms. */
const progressEveryMs = 1000

/** A running tool call, with the queues of all sinks that record it. */
class AuditedRun {
  readonly record: ToolCallRecord
  readonly #queues: readonly AuditQueue[]
  readonly #mustRecord: boolean
  #begun: Promise<void> | undefined
  #savedAt = 0

  constructor(record: ToolCallRecord, queues: readonly AuditQueue[], mustRecord: boolean) {
    this.record = record
    this.#queues = queues
    this.#mustRecord = mustRecord
  }

  /** Records a write, then sends it. */
  async send<T>(
    route: Route,
    request: RouteRequest,
    send: (write: WriteRecord) => Promise<T>,
  ): Promise<T> {
    const write = this.record.write(route, request)
    try {
      await this.#recordFirst(route, write)
      const reply = await send(write)
      write.succeeded(reply)
      return reply
    } catch (error) {
      write.failed(error)
      throw error
    } finally {
      this.#changed()
    }
  }

  settle(externalId: string, callId: string, isAccepted: boolean): void {
    if (this.record.settle(externalId, callId, isAccepted)) this.#changed()
  }

  end(end: CallEnd): void {
    const { writes, isDryRun } = this.record
    this.record.end(end)
    if (writes.size > 0 || !(isDryRun || isQuestion(end))) this.#save()
  }

  /**
   * Saves the entry of the tool call and, for a phone or web call, the line of that call. Throws
   * ApiError `not_recorded` if a save fails and the operator requires records. Otherwise waits at
   * most 2 s for each save.
   */
  async #recordFirst({ method, path, effect }: Route, write: WriteRecord): Promise<void> {
    const isFirst = this.#begun === undefined
    this.#begun ??= this.#saveFirst(this.record.entry())
    try {
      await this.#begun
      // For the first write, `#begun` has just saved the entry.
      if (effect === 'bills')
        await this.#saveFirst(
          isFirst ? undefined : this.record.entry(),
          this.record.phoneCallSent(write),
        )
    } catch {
      // The reason is in the log, for the operator.
      const failure = { kind: 'not_recorded', maybeSent: false } as const
      throw new ApiError(failure, { method, path, effect, attempts: 0 })
    }
  }

  /** Saves before a write is sent. Throws if the write must not be sent without its record. */
  async #saveFirst(entry: AuditEntry | undefined, call?: SentPhoneCall): Promise<void> {
    await Promise.all(
      this.#queues.map(async (queue) => {
        const record = call && queue.sink.savePhoneCall ? call : entry
        if (record) await (this.#mustRecord ? queue.saveNow(record) : queue.saveSoon(record))
      }),
    )
  }

  #changed(): void {
    // The outcome of a telephone call may arrive after the tool's answer.
    if (this.record.hasEnded) this.#save()
    else if (performance.now() - this.#savedAt >= progressEveryMs) {
      this.#savedAt = performance.now()
      for (const queue of this.#queues)
        if (!queue.sink.savePhoneCall) queue.add(this.record.entry())
    }
  }

  #save(): void {
    for (const queue of this.#queues) queue.add(this.record.entry())
  }
}
