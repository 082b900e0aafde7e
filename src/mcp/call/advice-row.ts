import type { Failure, NetworkFailure, Rejected, Unreadable } from '../../api/failure.ts'
import type { Route } from '../../contract/route.ts'
import type { Session } from '../../session/session.ts'
import { replyDescription } from './failure-description.ts'

/** The tool whose call failed. */
interface FailedTool {
  readonly name: string
  readonly route: Route
}

/** The call that failed, and what is known about it. */
export interface FailedCall {
  readonly tool: FailedTool
  readonly session: Session
  /** The account it was for, as part of a sentence. */
  readonly account: string
  /** The tool that shows whether something was created, where there is one. */
  readonly check: string | undefined
  /** Whether the caller can call the tool of that name: advice names no other. */
  readonly isExposed: (tool: string) => boolean
  /** What may have been meant, by argument. */
  readonly hints: Readonly<Record<string, string>>
}

/** One kind of failure and its advice. The first row that matches a failure gives the advice. */
export interface AdviceRow {
  /** What programs recognise the failure by; part of the interface. */
  readonly id: string
  readonly when: (failure: Failure, call: FailedCall) => boolean
  /** What happened, with the platform's own message where there is one. */
  readonly what: (failure: Failure, call: FailedCall) => string
  /** What to do. */
  readonly next: (failure: Failure, call: FailedCall) => string
  /** Whether the same call can succeed later, or only where repeating it is harmless. */
  readonly again: 'yes' | 'no' | 'if harmless'
}

/** A reply with an error status, readable or not: its status says what it means. */
type ErrorReply = Rejected | Unreadable

const isReply = (failure: Failure): failure is ErrorReply =>
  failure.kind === 'rejected' || failure.kind === 'unreadable'

const isSuccess = ({ status }: { readonly status: number }): boolean =>
  status >= 200 && status < 300

/** A row for replies with certain error statuses. */
export const statusRow = (
  matches: (status: number, call: FailedCall) => boolean,
  row: Pick<AdviceRow, 'id' | 'again'> & {
    readonly next: (failure: ErrorReply, call: FailedCall) => string
  },
): AdviceRow => ({
  ...row,
  when: (failure, call) => isReply(failure) && !isSuccess(failure) && matches(failure.status, call),
  what: (failure) => replyDescription(failure as ErrorReply),
  next: (failure, call) => row.next(failure as ErrorReply, call),
})

/** A row for replies with a success status that cannot be read. */
export const unreadableSuccessRow = (
  matches: (failure: Unreadable) => boolean,
  row: Pick<AdviceRow, 'id'> & { readonly next: string },
): AdviceRow => ({
  id: row.id,
  again: 'if harmless',
  when: (failure) => failure.kind === 'unreadable' && isSuccess(failure) && matches(failure),
  what: (failure) => replyDescription(failure as Unreadable),
  next: () => row.next,
})

/** A row for failures of the network with certain codes. */
export const networkRow = (
  matches: (code: string) => boolean,
  row: Pick<AdviceRow, 'id' | 'again' | 'next'> & { readonly what: (code: string) => string },
): AdviceRow => ({
  ...row,
  when: (failure) => failure.kind === 'network' && matches(failure.code),
  what: (failure) => row.what((failure as NetworkFailure).code),
})
