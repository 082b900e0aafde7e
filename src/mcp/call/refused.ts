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

/** Thrown by the steps of a tool that refuse: what is wrong and what to do. Nothing was done. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly kind: RefusalKind
  readonly advice: Omit<Advice, 'next'> & { readonly next: string | undefined }

  constructor(
    kind: RefusalKind,
    what: string,
    { fields = [], next }: { fields?: Advice['fields']; next?: string } = {},
  ) {
    super(what)
    this.kind = kind
    this.advice = { what, fields, next, retryable: false }
  }
}

/** Refuses arguments that are wrong, each with what to do about it. */
export const badArguments = (fields: Advice['fields']): Refused =>
  new Refused('bad_arguments', 'the arguments cannot be right; nothing was sent', { fields })
