import type { Advice } from './advice.ts'

/** Why the steps of a tool refused, for programs. */
export type RefusalKind =
  | 'all_failed'
  | 'bad_arguments'
  | 'conflict'
  | 'needs_person'
  | 'not_allowed'
  | 'not_taken'
  | 'unknown_outcome'

/** What a program needs to know of a refusal besides its kind. */
export interface RefusalFacts {
  /** The rule of the dial policy that the call breaks. */
  readonly rule?: string
  /** Seconds after which the same call may be allowed; `null`: not known. */
  readonly retryAfter?: number | null
}

/** Thrown by the steps of a tool that refuse: what is wrong and what to do. Nothing was done. */
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
  /** Whether the very same call can succeed later. */
  readonly retryable?: boolean
  readonly facts?: RefusalFacts
}

/** Refuses arguments that are wrong, each with what to do about it. */
export const badArguments = (fields: Advice['fields']): Refused =>
  new Refused('bad_arguments', 'the arguments cannot be right; nothing was sent', { fields })
