import type { StateError } from '../state/state-access.ts'
import { emergencyNever } from '../text/phone-number.ts'

/** An invalid argument, and why it is invalid. */
export interface ArgumentProblem {
  /** Dotted path, such as `voice.settings.speed`. */
  readonly argument: string
  readonly message: string
}

/** Our argument for a field that the platform names, such as `body.voice.speed` or `query.page`. */
export const argumentOf = (field: string): string => field.replace(/^(body|query|path)\./, '')

/** A reported failure: cause, invalid arguments, and next step. */
export interface Advice {
  readonly what: string
  readonly fields: readonly (ArgumentProblem & { readonly type?: string })[]
  readonly next: string
  /** True if the same tool call may succeed later. */
  readonly retryable: boolean
}

/** Kind of a refusal, as a code for programs. */
export type RefusalKind =
  | 'all_failed'
  | 'bad_arguments'
  | 'conflict'
  | 'needs_person'
  | 'not_allowed'
  | 'not_taken'
  | 'state_unavailable'
  | 'unknown_outcome'

/** More facts about a refusal, for programs. */
export interface RefusalFacts {
  /** The rule of the dial policy that the call breaks. */
  readonly rule?: string
  /** The rule as a sentence. */
  readonly ruleText?: string
  /** Seconds until the same tool call may succeed; `null`: not known, or waiting does not help. */
  readonly retryAfter?: number | null
}

/**
 * Ends a tool call with an error that says cause and remedy. Nothing was done, except for the kinds
 * `unknown_outcome` (it may have been done) and `not_taken` (the platform recorded the telephone
 * call, but did not accept it).
 */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly kind: RefusalKind
  readonly advice: Omit<Advice, 'next'> & { readonly next: string | undefined }
  readonly facts: RefusalFacts

  constructor(
    kind: RefusalKind,
    what: string,
    { fields = [], next, retryable = false, facts = {} }: RefusalOptions = {},
  ) {
    super(what)
    this.kind = kind
    this.advice = { what, fields, next, retryable }
    this.facts = facts
  }
}

interface RefusalOptions {
  readonly fields?: Advice['fields']
  readonly next?: string
  /** True if the same tool call may succeed later. */
  readonly retryable?: boolean
  readonly facts?: RefusalFacts
}

/** Refuses arguments that do not match the schema, or refer to missing objects. */
export const invalidArguments = (fields: Advice['fields']): Refused =>
  new Refused('bad_arguments', 'the arguments are not valid; nothing was sent', {
    fields,
    ...(fields.some(({ message }) => message.includes(emergencyNever)) && {
      next: 'Tell the user to dial it. Do not try an emergency number again.',
    }),
  })

/** Refuses arguments that match the schema but cannot be used, each with a remedy. */
export const badArguments = (fields: Advice['fields']): Refused =>
  new Refused('bad_arguments', 'the arguments cannot be right; nothing was sent', { fields })

/** Refuses one argument, as `badArguments` does. */
export const badArgument = (argument: string, message: string): Refused =>
  badArguments([{ argument, message }])

/** Seconds to wait before a retry when the state store is slow or unreachable. */
const stateRetrySeconds = 10

/**
 * The server cannot write its state. `detail` names the state store and its fault; only the
 * operator may see it.
 */
export function stateRefusal({ isTemporary }: StateError, detail: string | undefined): Refused {
  const what =
    'what this server keeps (calls, limits, confirmations) cannot be read or written at the moment, and without it this is not done. Nothing was done by this call'
  const next = isTemporary
    ? `Try again in ${stateRetrySeconds} s with the same arguments. If it persists, tell the user: the operator of this server has to look at its state; the log of the server has the details.`
    : 'Trying again will not help. Tell the user: the operator of this server has to repair it; the log of the server has the details.'
  return new Refused(
    'state_unavailable',
    detail === undefined ? what : `${what}. ${detail.replace(/\.$/, '')}`,
    {
      next,
      retryable: isTemporary,
      facts: { retryAfter: isTemporary ? stateRetrySeconds : null },
    },
  )
}
