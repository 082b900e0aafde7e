import type { TemplateError, TemplateErrorType } from '../error.ts'

/** A use of a variable the caller must provide. */
export type Read = { readonly root: string; readonly path: string; readonly line: number }

/** An unknown filter or test where Jinja2 only fails once it gets there. */
export type Deferred = {
  readonly type: TemplateErrorType
  readonly name: string
  readonly line: number
}

/** What compiling found. Like Jinja2 it keeps one error, but it goes on reading variables. */
export class Report {
  /** False in code that Jinja2 does not compile: mistakes there are never noticed. */
  live = true
  readonly reads: Read[] = []
  readonly deferred: Deferred[] = []
  private first: TemplateError | null = null
  private late: TemplateError | null = null

  /** The error Jinja2 would raise; those left to Python come after all of its own. */
  get error(): TemplateError | null {
    return this.first ?? this.late
  }

  fail(error: TemplateError): void {
    if (this.live) this.first ??= error
  }

  failLate(error: TemplateError): void {
    if (this.live) this.late ??= error
  }

  /** Forgets an error found while running `check`, if `pardons` says so. */
  unless(pardons: () => boolean, check: () => void): void {
    const { first } = this
    check()
    if (first === null && this.first !== null && pardons()) this.first = null
  }
}
