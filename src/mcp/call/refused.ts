import type { Advice } from './advice.ts'

/** Why a tool did not go on, for programs. */
export type RefusalKind =
  | 'bad_arguments'
  | 'conflict'
  | 'needs_person'
  | 'not_allowed'
  | 'not_taken'
  | 'unknown_outcome'

/** Thrown by the steps of a tool that will not go on: what is wrong and what to do, nothing done. */
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

/** Arguments that cannot be right, each with what to do about it. */
export const badArguments = (fields: Advice['fields']): Refused =>
  new Refused('bad_arguments', 'the arguments cannot be right; nothing was sent', { fields })
