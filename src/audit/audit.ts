import { AsyncLocalStorage } from 'node:async_hooks'
import type { Client, ClientTry } from '../api/client.ts'
import type { Journal } from '../state/journal.ts'
import { AuditQueue, type AuditSink } from './audit-queue.ts'
import { AuditedRun, type Saving } from './audited-run.ts'
import { type AuditedCall, CallRecord, type ConfirmedBy } from './call-record.ts'
import type { CallEnd } from './outcome.ts'
import type { WriteRecord } from './write-record.ts'

/*
 * The audit trail: every call of a tool that changes something or rings somebody, with everything that
 * it sent. An entry is saved when the first such request is about to be sent (`begun`), so that a process
 * that dies leaves a trace of it, and again when the call has ended, behind the answer. A call that
 * sends nothing is saved once. Previews, questions and dry runs are not recorded: nothing was asked for
 * yet.
 */

export interface AuditOptions {
  readonly sinks: readonly AuditSink[]
  /** Nothing is changed that cannot be recorded. */
  readonly mustRecord: boolean
  /** Telephone numbers are recorded in full. */
  readonly showsNumbers: boolean
  /** Receives what an operator has to know: entries cannot be saved. */
  readonly onTrouble: (message: string) => void
}

/** Records who changed what. */
export interface Audit {
  /** Runs a call and records it. `endOf` tells how it ended. */
  toolCall<T>(
    call: AuditedCall,
    run: () => Promise<T>,
    endOf: (ended: { readonly result: T } | { readonly error: unknown }) => CallEnd,
  ): Promise<T>
  /** Records a call that was refused before it began. */
  refused(call: AuditedCall, end: CallEnd): void
  /** Who has confirmed the call that goes on. */
  confirmed(by: ConfirmedBy): void
  /** A client whose writes are recorded. */
  client(client: Client): Client
  /** One try of a request to the platform. */
  tried(attempt: ClientTry): void
  /** A journal that tells what became of calls whose answer was lost. */
  journal(journal: Journal): Journal
  close(): Promise<void>
}

export function createAudit({ sinks, mustRecord, showsNumbers, onTrouble }: AuditOptions): Audit {
  const queues = sinks.map((sink) => new AuditQueue(sink, onTrouble))
  const saved: Saving = {
    async begun(record) {
      const entry = record.entry()
      await Promise.all(
        queues.map((queue) => (mustRecord ? queue.saveNow(entry) : queue.saveSoon(entry))),
      )
    },
    progress(record) {
      for (const queue of queues) if (queue.sink.takesProgress) queue.add(record.entry())
    },
    ended(record) {
      for (const queue of queues) queue.add(record.entry())
    },
  }
  const calls = new AsyncLocalStorage<AuditedRun>()
  const writes = new AsyncLocalStorage<WriteRecord>()
  const runOf = (call: AuditedCall) => new AuditedRun(new CallRecord(call, showsNumbers), saved)
  return {
    async toolCall(call, run, endOf) {
      const underWay = runOf(call)
      try {
        const result = await calls.run(underWay, run)
        underWay.end(endOf({ result }))
        return result
      } catch (error) {
        underWay.end(endOf({ error }))
        throw error
      }
    },
    refused: (call, end) => runOf(call).end(end),
    confirmed: (by) => calls.getStore()?.confirmed(by),
    client: (client) => ({
      call(route, request, signal) {
        const underWay = route.effect === 'reads' ? undefined : calls.getStore()
        if (!underWay) return client.call(route, request, signal)
        return underWay.send(route, request, (write) =>
          writes.run(write, () => client.call(route, request, signal)),
        )
      },
    }),
    tried(attempt) {
      const write = writes.getStore()
      if (write) write.tried(attempt)
      else calls.getStore()?.tried(attempt)
    },
    journal: (journal) => settlingJournal(journal, () => calls.getStore()),
    async close() {
      await Promise.all(queues.map((queue) => queue.close()))
    },
  }
}

function settlingJournal(journal: Journal, current: () => AuditedRun | undefined): Journal {
  const settle = (externalId: string, callId: string, isAccepted: boolean) =>
    current()?.settle(externalId, callId, isAccepted)
  return {
    claim: (identity) => journal.claim(identity),
    find: (identity) => journal.find(identity),
    current: (entry) => journal.current(entry),
    beginSending: (entry, forMs) => journal.beginSending(entry, forMs),
    endSending: (entry) => journal.endSending(entry),
    recordPlaced(entry, callId) {
      settle(entry.externalId, callId, true)
      return journal.recordPlaced(entry, callId)
    },
    recordNotAccepted(entry, callId) {
      settle(entry.externalId, callId, false)
      return journal.recordNotAccepted(entry, callId)
    },
    release: (entry) => journal.release(entry),
    placedAgoMs: (owner, callId) => journal.placedAgoMs(owner, callId),
    readNote: (name) => journal.readNote(name),
    writeNote: (name, value) => journal.writeNote(name, value),
    close: () => journal.close(),
  }
}
