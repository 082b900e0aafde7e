import type { ClientTry } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import { mayBeDone } from '../api/may-be-done.ts'
import { isNotPlaced } from '../calls/not-placed.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import type { AuditEntry } from '../state/audit-trail.ts'
import type { Redaction } from './redaction.ts'

type AuditedWrite = AuditEntry['writes'][number]

/** What is recorded of one request that is to change something. */
export class WriteRecord {
  readonly #route: Route
  readonly #ids: readonly (readonly [string, string])[]
  readonly #toNumber: string | undefined
  readonly #redaction: Redaction
  readonly externalId: string | undefined
  #times = 0
  #outcome: 'sent' | 'done' | 'failed' | 'unknown' = 'sent'
  #madeId: string | undefined
  #status: number | undefined
  #requestId: string | undefined

  constructor(route: Route, { params, body }: RouteRequest, redaction: Redaction) {
    this.#route = route
    this.#redaction = redaction
    this.#ids = Object.entries(params).map(([name, id]) => [name, redaction.shown(String(id))])
    const { to_number, external_id } = body ?? {}
    this.#toNumber = typeof to_number === 'string' ? redaction.number(to_number) : undefined
    this.externalId = typeof external_id === 'string' ? external_id : undefined
  }

  sent(): void {
    this.#times++
    this.#outcome = 'sent'
  }

  /** One try of it has been answered, or not. */
  tried({ operation, status, requestId }: ClientTry): void {
    if (operation !== this.#route.id) return
    this.#status = status
    this.#requestId = requestId
  }

  succeeded(reply: unknown): void {
    this.#outcome = isRefusal(reply) ? 'failed' : 'done'
    this.#madeId = idIn(reply)
  }

  failed(error: unknown): void {
    this.#outcome = isCertainlyNotDone(error) ? 'failed' : 'unknown'
  }

  settle(callId: string, isAccepted: boolean): boolean {
    const isNew = this.#outcome === 'unknown' || this.#outcome === 'sent'
    if (isNew) {
      this.#outcome = isAccepted ? 'done' : 'failed'
      this.#madeId = callId
    }
    return isNew
  }

  facts(): AuditedWrite {
    const ids = this.#ids.filter(([name]) => name !== 'account_id')
    const account = this.#ids.find(([name]) => name === 'account_id')?.[1]
    const shown = (text: string | undefined) => text && this.#redaction.shown(text)
    return {
      operation: this.#route.id,
      ...(account !== undefined && { account_id: account }),
      ...(ids.length > 0 && { ids: Object.fromEntries(ids) }),
      ...(this.#toNumber !== undefined && { to_number: this.#toNumber }),
      ...(this.#madeId !== undefined && { made_id: shown(this.#madeId) }),
      outcome: this.#outcome,
      ...(this.#status !== undefined && { status: this.#status }),
      ...(this.#requestId !== undefined && { request_id: shown(this.#requestId) }),
      ...(this.#times > 1 && { times: this.#times }),
    }
  }
}

/** A call that the platform has a record of, and did not accept. */
const isRefusal = (reply: unknown) =>
  typeof reply === 'object' && reply !== null && 'success' in reply && reply.success === false

const idIn = (reply: unknown): string | undefined =>
  typeof reply === 'object' && reply !== null && 'id' in reply && typeof reply.id === 'string'
    ? reply.id
    : undefined

/** Of a call, what the code that places calls once goes by. */
function isCertainlyNotDone(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.effect === 'bills' ? isNotPlaced(error.failure) : !mayBeDone(error)
}
