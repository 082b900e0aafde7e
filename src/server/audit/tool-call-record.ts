import { createHash, randomUUID } from 'node:crypto'
import { isNotPlaced } from '../../calls/placement.ts'
import type { Route, RouteRequest } from '../../contract/route.ts'
import { ApiError, mayBeDone } from '../../platform/failure.ts'
import type { Redact } from '../../platform/key-redaction.ts'
import type { AuditEntry, SentPhoneCall } from '../../state/audit-trail.ts'
import { canonicalJson, isObject } from '../../text/json.ts'
import { type PlatformTry, shownHash } from '../observe/observer.ts'
import { Redaction } from './redaction.ts'

/** Client and account of a tool call. */
interface Caller {
  readonly keyHash: string
  /** Address of the platform, or `sandbox`. */
  readonly platform: string
  /** The account, if known before anything is sent. */
  readonly accountId: () => string | undefined
  /** The client's own description. */
  readonly client: AuditEntry['client']
  readonly transport: 'stdio' | 'http' | 'terminal'
  readonly network: string | undefined
  /** Id of the OAuth client, if the API key came from an access token. */
  readonly oauthClient: string | undefined
  readonly redact: Redact
}

/** A tool call to record: its tool is not read-only. */
export interface AuditedToolCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  readonly argumentNames: readonly string[]
  readonly caller: Caller
}

/**
 * How a tool call ended. `word` is the outcome as in the log: `ok`, `task`, or the kind of the
 * error.
 */
export interface CallEnd {
  readonly word: string
  /** Outcome of each item of a bulk tool call. */
  readonly targets: readonly Target[]
}

/** One item of a bulk tool call, with its outcome. */
export interface Target {
  readonly id: string | undefined
  /** The called telephone number, in a batch of telephone calls. */
  readonly to_number: string | undefined
  /** Outcome as in the tool's result. */
  readonly outcome: string
}

/**
 * How a tool call was confirmed. `not_needed`: no confirmation needed; `person`: by a person in a
 * form of the client; `token`: with the token of a preview; `view`: with the token of a preview in
 * a view; `off`: confirmations are off (`--confirm never`); `not_given`: asked for, but not given.
 */
export type ConfirmedBy = 'not_needed' | 'person' | 'token' | 'view' | 'off' | 'not_given'

/** Maximum writes, and maximum targets, that an entry lists. */
const maxWrites = 200

/** Collects the facts about a tool call while it runs, and makes its audit entry. */
export class ToolCallRecord {
  /**
   * Writes by a hash of operation, parameters and body: a repeated request counts as the same
   * write.
   */
  readonly writes = new Map<string, WriteRecord>()
  readonly isDryRun: boolean
  confirmedBy: ConfirmedBy = 'not_needed'
  readonly #call: AuditedToolCall
  readonly #redaction: Redaction
  readonly #arguments: unknown
  readonly #id = randomUUID()
  readonly #time = new Date()
  readonly #started = performance.now()
  #end: (CallEnd & { readonly durationMs: number }) | undefined
  /** The tool call's latest read, if it failed. */
  #failedRead: PlatformTry | undefined

  constructor(call: AuditedToolCall, showsNumbers: boolean) {
    this.#call = call
    this.isDryRun = call.arguments.dry_run === true
    this.#redaction = new Redaction({ redact: call.caller.redact, showsNumbers })
    // Set first: the ids of later writes are redacted with the numbers of these arguments.
    this.#arguments = this.#redaction.arguments(call.arguments, call.argumentNames)
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  write(route: Route, request: RouteRequest): WriteRecord {
    const { params, body } = request
    const sent = createHash('sha256')
      .update(canonicalJson([route.id, params, body ?? null]))
      .digest('base64')
    const write = this.writes.get(sent) ?? new WriteRecord(route, request, this.#redaction)
    this.writes.set(sent, write)
    write.sent()
    return write
  }

  /**
   * Sets the outcome of a telephone call whose reply was lost. Returns false if the outcome is
   * already known.
   */
  settle(externalId: string, callId: string, isAccepted: boolean): boolean {
    const write = [...this.writes.values()].find((one) => one.externalId === externalId)
    return write?.settle(callId, isAccepted) ?? false
  }

  /** Records one attempt of a read. */
  tried(attempt: PlatformTry): void {
    this.#failedRead = attempt.failure === undefined ? undefined : attempt
  }

  end(end: CallEnd): void {
    this.#end = { ...end, durationMs: performance.now() - this.#started }
  }

  entry(): AuditEntry {
    const { tool, caller } = this.#call
    const writes = [...this.writes.values()].map((write) => write.facts())
    const { outcome, reason } = this.#end ? auditOutcome(this.#end, writes) : { outcome: 'begun' }
    const account = writes.find(({ account_id }) => account_id !== undefined)?.account_id
    const leftOut = writes.length - maxWrites
    return {
      id: this.#id,
      time: this.#time.toISOString(),
      platform: caller.platform,
      tool,
      outcome,
      ...(reason !== undefined && { reason }),
      key: shownHash(caller.keyHash),
      ...this.#who(account),
      confirmation: this.confirmedBy,
      arguments: this.#arguments,
      writes: writes.slice(0, maxWrites),
      ...(outcome === 'failed' && writes.length === 0 && this.#failure()),
      ...this.#targets(),
      ...(leftOut > 0 && { writes_left_out: leftOut }),
      ...(this.#end && { duration_ms: Math.round(this.#end.durationMs) }),
    }
  }

  /** The line of a telephone call about to be sent. */
  phoneCallSent(call: WriteRecord): SentPhoneCall {
    const { tool, caller } = this.#call
    return {
      id: randomUUID(),
      time: new Date().toISOString(),
      entry: this.#id,
      platform: caller.platform,
      tool,
      key: shownHash(caller.keyHash),
      ...call.facts(),
      outcome: 'sent',
    }
  }

  #targets() {
    const targets = this.#end?.targets.slice(0, maxWrites) ?? []
    if (targets.length === 0) return {}
    return {
      targets: targets.map(({ id, to_number, outcome }) => ({
        ...(id !== undefined && { id: this.#redaction.shown(id) }),
        ...(to_number !== undefined && { to_number: this.#redaction.number(to_number) }),
        outcome,
      })),
    }
  }

  /** The failed read that ended a tool call before it sent a change. */
  #failure() {
    if (!this.#failedRead) return {}
    const { operation, status, requestId } = this.#failedRead
    const request_id = requestId && this.#redaction.id(requestId)
    return {
      failed_request: {
        operation,
        ...(status !== undefined && { status }),
        ...(request_id !== undefined && { request_id }),
      },
    }
  }

  #who(account: string | undefined) {
    const { client = {}, transport, network, accountId, oauthClient } = this.#call.caller
    const texts = Object.entries(client).flatMap(([name, text]) =>
      typeof text === 'string' ? [[name, this.#redaction.shown(text)]] : [],
    )
    const oauth_client = oauthClient && this.#redaction.id(oauthClient)
    const own = account === undefined ? accountId() : undefined
    const known = account ?? (own && this.#redaction.shown(own))
    return {
      ...(texts.length > 0 && { client: Object.fromEntries(texts) }),
      ...(oauth_client !== undefined && { oauth_client }),
      transport,
      ...(network !== undefined && { network }),
      ...(known !== undefined && { account_id: known }),
    }
  }
}

type AuditedWrite = AuditEntry['writes'][number]

/**
 * Outcome of a tool call:
 * - `done`: everything sent was done
 * - `unchanged`: success without a request, because nothing had to change
 * - `partly`: some of it was done, and some certainly not
 * - `refused`: nothing was sent, because this server or a person declined; `reason` says why
 * - `failed`: nothing was done
 * - `unknown`: the effect of a sent request is not known
 *
 * The entry of a tool call that has not ended, or whose server ended first, has the outcome `begun`.
 */
type AuditOutcome = 'done' | 'unchanged' | 'partly' | 'refused' | 'failed' | 'unknown'

/** Outcome words of tool calls that were refused, by this server or by a person. */
const refusals: ReadonlySet<string> = new Set([
  'bad_arguments',
  'bad_parameter',
  'confirmation_declined',
  'confirmation_dismissed',
  'conflict',
  'needs_person',
  'not_allowed',
  'not_exposed',
  'protocol_error',
  'state_unavailable',
])

/** Outcome words of tool calls that only asked for confirmation. */
const questions: ReadonlySet<string> = new Set(['confirmation_needed', 'input_required'])

export const isQuestion = ({ word }: CallEnd): boolean => questions.has(word)

const isSuccess = (word: string) => word === 'ok' || word === 'task'

/** Outcomes of items that were not changed: failed or refused. */
const notDone: ReadonlySet<string> = new Set(['failed', 'not_allowed', 'not_dialled', 'not_tried'])

export function auditOutcome(
  { word, targets }: CallEnd,
  writes: readonly AuditedWrite[],
): { readonly outcome: AuditOutcome; readonly reason?: string } {
  const reason = isSuccess(word) ? {} : { reason: word }
  // The audit trail could not record the writes, so they were not sent.
  if (word === 'not_recorded') return { outcome: 'refused', ...reason }
  const ends = [...writes, ...targets].map(({ outcome }) => outcome)
  if (ends.some((one) => one === 'unknown' || one === 'sent'))
    return { outcome: 'unknown', ...reason }
  const someFailed = ends.some((one) => notDone.has(one))
  if (writes.length === 0 && !someFailed) return { outcome: outcomeWithoutWrites(word), ...reason }
  if (ends.every((one) => notDone.has(one))) return { outcome: 'failed', ...reason }
  return { outcome: someFailed || !isSuccess(word) ? 'partly' : 'done', ...reason }
}

function outcomeWithoutWrites(word: string): AuditOutcome {
  if (isSuccess(word)) return 'unchanged'
  if (word === 'unknown_outcome') return 'unknown'
  return refusals.has(word) ? 'refused' : 'failed'
}

/** Records one changing request to the platform, with its retries. */
export class WriteRecord {
  readonly #route: Route
  readonly #ids: readonly (readonly [string, string])[]
  readonly #toNumber: string | undefined
  readonly #numbers: readonly string[]
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
    const { to_number, from_number, external_id } = body ?? {}
    this.#numbers = [to_number, from_number].filter((one) => typeof one === 'string')
    this.#toNumber = typeof to_number === 'string' ? redaction.number(to_number) : undefined
    this.externalId = typeof external_id === 'string' ? external_id : undefined
  }

  sent(): void {
    this.#times++
    this.#outcome = 'sent'
  }

  /** Records one attempt of the write, with or without a reply. */
  tried({ operation, status, requestId }: PlatformTry): void {
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
    const shown = (text: string | undefined) => text && this.#redaction.id(text)
    return {
      operation: this.#route.id,
      ...(account !== undefined && { account_id: account }),
      ...(ids.length > 0 && { ids: Object.fromEntries(ids) }),
      ...(this.#toNumber !== undefined && { to_number: this.#toNumber }),
      ...(this.externalId !== undefined && {
        external_id: this.#redaction.ownId(this.externalId, this.#numbers),
      }),
      ...(this.#madeId !== undefined && { made_id: shown(this.#madeId) }),
      outcome: this.#outcome,
      ...(this.#status !== undefined && { status: this.#status }),
      ...(this.#requestId !== undefined && { request_id: shown(this.#requestId) }),
      ...(this.#times > 1 && { times: this.#times }),
    }
  }
}

/** True for the reply to a telephone call that the platform has recorded but not accepted. */
const isRefusal = (reply: unknown) => isObject(reply) && reply.success === false

const idIn = (reply: unknown): string | undefined =>
  isObject(reply) && typeof reply.id === 'string' ? reply.id : undefined

/**
 * True if a failed write certainly had no effect. Telephone calls have a rule of their own, because
 * each is placed only once.
 */
function isCertainlyNotDone(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false
  return error.effect === 'bills' ? isNotPlaced(error.failure) : !mayBeDone(error)
}
