import type { ClientTry } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import type { CallRecord, ConfirmedBy } from './call-record.ts'
import { type CallEnd, isQuestion } from './outcome.ts'
import type { WriteRecord } from './write-record.ts'

/** How often the progress of a call with many writes is saved at most, ms. */
const progressEveryMs = 1000

/** When the record of a call is saved. */
export interface Saving {
  /** Before the first write is sent; throws where it may not be sent then. */
  begun(record: CallRecord): Promise<void>
  progress(record: CallRecord): void
  ended(record: CallRecord): void
}

/** A call that is recorded while it goes on. */
export class AuditedRun {
  readonly #record: CallRecord
  readonly #saving: Saving
  #begun: Promise<void> | undefined
  #savedAt = 0

  constructor(record: CallRecord, saving: Saving) {
    this.#record = record
    this.#saving = saving
  }

  confirmed(by: ConfirmedBy): void {
    this.#record.confirmedBy = by
  }

  /** Records a write, and sends it. */
  async send<T>(
    route: Route,
    request: RouteRequest,
    send: (write: WriteRecord) => Promise<T>,
  ): Promise<T> {
    const write = this.#record.write(route, request)
    try {
      await this.#begin(route)
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

  tried(attempt: ClientTry): void {
    this.#record.tried(attempt)
  }

  settle(externalId: string, callId: string, isAccepted: boolean): void {
    if (this.#record.settle(externalId, callId, isAccepted)) this.#changed()
  }

  end(end: CallEnd): void {
    const { hasWrites, isDryRun } = this.#record
    this.#record.ended(end)
    if (hasWrites || !(isDryRun || isQuestion(end))) this.#saving.ended(this.#record)
  }

  /** All writes of the call wait for the same. */
  async #begin({ method, path, effect }: Route): Promise<void> {
    this.#begun ??= this.#saving.begun(this.#record)
    try {
      await this.#begun
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const failure = { kind: 'not_recorded', reason, maybeSent: false } as const
      throw new ApiError(failure, { method, path, effect, attempts: 0 })
    }
  }

  #changed(): void {
    if (this.#record.hasEnded) {
      // A call may be followed to its outcome behind the answer.
      this.#saving.ended(this.#record)
    } else if (performance.now() - this.#savedAt >= progressEveryMs) {
      this.#savedAt = performance.now()
      this.#saving.progress(this.#record)
    }
  }
}
