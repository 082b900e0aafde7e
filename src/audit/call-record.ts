import { createHash, randomUUID } from 'node:crypto'
import type { ClientTry } from '../api/client.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { canonicalJson } from '../json/canonical-json.ts'
import type { AuditEntry } from '../state/audit-trail.ts'
import { type CallEnd, outcomeOf } from './outcome.ts'
import { Redaction } from './redaction.ts'
import { WriteRecord } from './write-record.ts'

/** Who calls a tool, as far as it is known. */
export interface Caller {
  /** Hash of the API key. */
  readonly owner: string
  /** Address of the platform, or `sandbox`. */
  readonly platform: string
  /** The account, where it is known without what was sent. */
  readonly accountId: () => string | undefined
  /** What the client says of itself. */
  readonly client: AuditEntry['client']
  readonly transport: 'stdio' | 'http' | 'terminal'
  readonly network: string | undefined
  /** Id of the OAuth client, where the key came by one. */
  readonly oauthClient: string | undefined
  /** Removes the API key from a text. */
  readonly redact: (text: string) => string
}

/** A call of a tool that changes something. */
export interface AuditedCall {
  readonly tool: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** Names of the arguments that the tool has. */
  readonly argumentNames: readonly string[]
  readonly caller: Caller
}

/**
 * Who has confirmed. `not_needed`: nobody is asked for this; `person`: a person agreed in a form of the
 * client; `token`: the caller came back with the token of a preview; `off`: the operator wants no
 * confirmation (`--confirm never`); `not_given`: asked, and not agreed.
 */
export type ConfirmedBy = 'not_needed' | 'person' | 'token' | 'off' | 'not_given'

/** As much of the key's hash as tells users apart: the same as in the log. */
const shownHash = 16

/** Most writes that an entry has, and most targets; further writes are counted. */
const mostWrites = 200

/** What is recorded of one call while it goes on. */
export class CallRecord {
  readonly #call: AuditedCall
  readonly #redaction: Redaction
  readonly #id = randomUUID()
  readonly #time = new Date()
  readonly #started = performance.now()
  /** By what was sent: the same sent again is the same write. */
  readonly #writes = new Map<string, WriteRecord>()
  #end: (CallEnd & { readonly durationMs: number }) | undefined
  /** The last request of the call that only read and failed. */
  #failedRead: ClientTry | undefined
  confirmedBy: ConfirmedBy = 'not_needed'

  constructor(call: AuditedCall, showsNumbers: boolean) {
    this.#call = call
    this.#redaction = new Redaction({ redact: call.caller.redact, showsNumbers })
  }

  get hasWrites(): boolean {
    return this.#writes.size > 0
  }

  get hasEnded(): boolean {
    return this.#end !== undefined
  }

  /** Only looks at what would change. */
  get isDryRun(): boolean {
    return this.#call.arguments.dry_run === true
  }

  /** A write that is about to be sent. */
  write(route: Route, request: RouteRequest): WriteRecord {
    const { params, body } = request
    const sent = createHash('sha256')
      .update(canonicalJson([route.id, params, body ?? null]))
      .digest('base64')
    const write = this.#writes.get(sent) ?? new WriteRecord(route, request, this.#redaction)
    this.#writes.set(sent, write)
    write.sent()
    return write
  }

  /** What became of a call whose answer was lost. True where that was not known before. */
  settle(externalId: string, callId: string, isAccepted: boolean): boolean {
    const write = [...this.#writes.values()].find((one) => one.externalId === externalId)
    return write?.settle(callId, isAccepted) ?? false
  }

  /** A try of a request that only reads. */
  tried(attempt: ClientTry): void {
    this.#failedRead = attempt.failure === undefined ? undefined : attempt
  }

  ended(end: CallEnd): void {
    this.#end = { ...end, durationMs: performance.now() - this.#started }
  }

  /** The entry as it is now. */
  entry(): AuditEntry {
    const { tool, caller } = this.#call
    const writes = [...this.#writes.values()].map((write) => write.facts())
    const { outcome, reason } = this.#end ? outcomeOf(this.#end, writes) : { outcome: 'begun' }
    const account = writes.find(({ account_id }) => account_id !== undefined)?.account_id
    const leftOut = writes.length - mostWrites
    return {
      id: this.#id,
      time: this.#time.toISOString(),
      platform: caller.platform,
      tool,
      outcome,
      ...(reason !== undefined && { reason }),
      key: caller.owner.slice(0, shownHash),
      ...this.#who(account),
      confirmation: this.confirmedBy,
      arguments: this.#arguments(),
      writes: writes.slice(0, mostWrites),
      ...(outcome === 'failed' && writes.length === 0 && this.#failure()),
      ...this.#targets(),
      ...(leftOut > 0 && { writes_left_out: leftOut }),
      ...(this.#end && { duration_ms: Math.round(this.#end.durationMs) }),
    }
  }

  #targets() {
    const targets = this.#end?.targets.slice(0, mostWrites) ?? []
    if (targets.length === 0) return {}
    return {
      targets: targets.map(({ id, to_number, outcome }) => ({
        ...(id !== undefined && { id: this.#redaction.shown(id) }),
        ...(to_number !== undefined && { to_number: this.#redaction.number(to_number) }),
        outcome,
      })),
    }
  }

  /** Why a call has failed before it sent anything that changes. */
  #failure() {
    if (!this.#failedRead) return {}
    const { operation, status, requestId } = this.#failedRead
    const request_id = this.#shown(requestId)
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
    const oauth_client = this.#shown(oauthClient)
    const known = account ?? this.#shown(accountId())
    return {
      ...(texts.length > 0 && { client: Object.fromEntries(texts) }),
      ...(oauth_client !== undefined && { oauth_client }),
      transport,
      ...(network !== undefined && { network }),
      ...(known !== undefined && { account_id: known }),
    }
  }

  readonly #shown = (text: string | undefined) =>
    text === undefined ? undefined : this.#redaction.shown(text)

  #redacted: unknown

  #arguments(): unknown {
    const { arguments: given, argumentNames } = this.#call
    this.#redacted ??= this.#redaction.arguments(given, argumentNames)
    return this.#redacted
  }
}
