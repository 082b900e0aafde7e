import type { Route } from '../contract/route.ts'
import type {
  Failure,
  NetworkFailure,
  Redirected,
  Rejected,
  Unreadable,
} from '../platform/failure.ts'
import type { Session } from '../platform/sessions/session.ts'
import { kindOf, referencesOf } from './hints/references.ts'

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

/** What the platform answered: its own message, or what the reply was instead. */
const replyDescription = (failure: Rejected | Unreadable): string =>
  failure.kind === 'rejected' ? rejection(failure) : unreadableReply(failure)

function rejection({ status, code, message, detail }: Rejected): string {
  const text = detail && detail !== message ? `${message} ${detail}` : message
  return `the platform refused it (HTTP ${status}, ${code}): ${text}`
}

function unreadableReply({ status, reason, detail, excerpt }: Unreadable): string {
  // Data of an unexpected shape is still data: it is shown, so that nothing is lost.
  const most = isSuccess({ status }) && reason === 'unexpected_shape' ? 20_000 : 300
  const shown =
    excerpt.length > most
      ? ` It begins: ${excerpt.slice(0, most)}`
      : excerpt && ` It is: ${excerpt}`
  return `the platform answered HTTP ${status} with ${reasons[reason]}${detail ? ` (${detail})` : ''}.${shown}`
}

const reasons: Readonly<Record<Unreadable['reason'], string>> = {
  html: 'an HTML page instead of JSON, most likely from a proxy in front of it',
  empty: 'an empty reply',
  cut_off: 'a reply that was cut off',
  not_json: 'a reply that is not JSON',
  too_large: 'a reply of more than 10 MiB or of more than 300,000 values, which was not read',
  unexpected_shape: 'JSON of an undocumented shape',
}

export const redirectDescription = (failure: Redirected): string =>
  `the platform redirected (HTTP ${failure.status}) ${redirects[failure.reason](failure)}`

const redirects: Readonly<Record<Redirected['reason'], (failure: Redirected) => string>> = {
  elsewhere: ({ origin }) => `to ${origin}; the API key is not sent there`,
  not_repeatable: () => 'in a way that would send a different request',
  too_many: () => 'in a circle, or too often',
  nowhere: () => 'to no usable address',
}

/** What to check after a 404: what is missing, or else every reference among the tool's arguments. */
export function notFoundHint({ tool, session, account, isExposed, hints }: FailedCall): string {
  const { path, body, params } = tool.route
  const missing = Object.keys(hints).filter((name) => kindOf(name) !== undefined)
  if (missing.includes('account_id') && session.pinnedAccount !== undefined) {
    return `The platform does not know ${account}, which this server was started with (--account): the operator has to correct it.`
  }
  const isOther = 'account_id' in params.shape && session.pinnedAccount === undefined
  const names = missing.length > 0 ? missing : referencesOf(path, body?.shape)
  if (names.length > 0) {
    const checks = names.map((name) => withListTool(name, isExposed)).join(', ')
    return `Check ${checks}. It was searched in ${account}.`
  }
  return isOther && account.startsWith('account ')
    ? `Check ${withListTool('account_id', isExposed)}; if it is right, check VOICE_AGENT_BASE_URL.`
    : 'The platform has nothing at this address: check VOICE_AGENT_BASE_URL.'
}

/** An argument, and the tool that lists what it can refer to, where the caller has that. */
function withListTool(name: string, isExposed: FailedCall['isExposed']): string {
  const tool = kindOf(name)?.listTool
  return tool !== undefined && isExposed(tool) ? `${name} with ${tool}` : name
}
