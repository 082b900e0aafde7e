import {
  type ApiError,
  type Failure,
  failureText,
  isCertificateProblem,
  type NetworkFailure,
  type Redirected,
  type Rejected,
  type Unreadable,
} from '../platform/failure.ts'
import type { Session } from '../platform/sessions/session.ts'
import { kindOf, referencesOf } from './references/kinds.ts'
import { type Advice, argumentOf } from './refused.ts'
import type { Tool } from './tool.ts'

/*
 * Advice per kind of failed request. Only this file turns platform failures into advice: first the
 * table, then the code that chooses and fills in a row.
 */

/** Advice per kind of failure, such as `key_refused` for a 401. */
export const adviceRows: readonly AdviceRow[] = [
  statusRow(is(401), {
    id: 'key_refused',
    again: 'no',
    next: (_, { session }) =>
      `The platform rejected the API key from ${session.keySource}. Put a valid key there. Trying again will not help.`,
  }),
  statusRow(is(403), {
    id: 'no_access',
    again: 'no',
    next: (failure, call) =>
      isDisabled(failure)
        ? `The request was for ${accountPhrase(call)}, which is disabled${enableHint(call)}.`
        : `The request was for ${accountPhrase(call)}. The API key cannot access it, or it is disabled${reachHint(call)}.`,
  }),
  statusRow(is(402), {
    id: 'payment_required',
    again: 'no',
    next: (_, call) =>
      `The request was for ${accountPhrase(call)}. Its credit or plan does not cover this. Change that on the platform, then try again.`,
  }),
  statusRow(is(405), {
    id: 'not_offered',
    again: 'no',
    next: (_, { tool }) =>
      `The platform does not offer ${tool.route.method} here, so ${tool.name} cannot work. Check VOICE_AGENT_BASE_URL and any proxy in front of the platform.`,
  }),
  statusRow(is(410), {
    id: 'gone',
    again: 'no',
    next: (_, call) => `It was removed permanently. This id will not work again.${lookHint(call)}`,
  }),
  statusRow(is(404), {
    id: 'not_found',
    again: 'no',
    next: (_, call) => notFoundHint(call),
  }),
  statusRow(is(400), {
    id: 'bad_request',
    again: 'no',
    next: (_, { tool }) => `Correct the arguments and call ${tool.name} again.`,
  }),
  statusRow(is(409), {
    id: 'conflict',
    again: 'no',
    next: (_, { tool }) => `Resolve the conflict, then call ${tool.name} again.`,
  }),
  statusRow(is(422), {
    id: 'invalid',
    again: 'no',
    next: (_, { tool }) => `Correct the named arguments and call ${tool.name} again.`,
  }),
  statusRow(is(429), {
    id: 'rate_limited',
    again: 'yes',
    next: ({ retryAfter }) => waitHint(retryAfter),
  }),
  statusRow((one, { session }) => one >= 500 && session.isSandbox, {
    id: 'sandbox_broken',
    again: 'no',
    // The sandbox's message has the cause, usually a file of the sandbox.
    next: () => 'This is the sandbox on this machine. Follow its message.',
  }),
  statusRow(is(502, 503, 504), {
    id: 'unavailable',
    again: 'if harmless',
    next: ({ retryAfter }) =>
      retryAfter === null
        ? 'The platform, or a proxy in front of it, is not available. Try again in a minute. If it persists, check VOICE_AGENT_BASE_URL.'
        : waitHint(retryAfter),
  }),
  statusRow((one) => one >= 500, {
    id: 'platform_error',
    again: 'if harmless',
    next: () =>
      "Try again later. If it persists, give the request id to the platform's support, or check VOICE_AGENT_BASE_URL.",
  }),
  statusRow(() => true, {
    id: 'refused',
    again: 'no',
    next: () => 'See the message of the platform.',
  }),
  unreadableSuccessRow(({ reason }) => reason === 'too_large', {
    id: 'too_large',
    next: 'Ask for less: a smaller limit, or narrower filters.',
  }),
  unreadableSuccessRow(({ reason }) => reason === 'unexpected_shape', {
    id: 'odd_shape',
    next: 'Use the data with care, and report the difference.',
  }),
  unreadableSuccessRow(() => true, {
    id: 'unreadable',
    next: 'Try again. If it persists, check that VOICE_AGENT_BASE_URL points to the platform.',
  }),
  networkRow(isCertificateProblem, {
    id: 'certificate',
    again: 'no',
    what: (code) => `the certificate of the platform is not trusted (${code}); nothing was sent`,
    next: () =>
      'Trying again will not help. Check VOICE_AGENT_BASE_URL. For a company proxy or your own certificate authority, name its certificate with NODE_EXTRA_CA_CERTS.',
  }),
  networkRow((code) => /^PROXY_\d+$/.test(code), {
    id: 'proxy_refused',
    again: 'if harmless',
    what: (code) =>
      `the proxy did not connect to the platform (HTTP ${code.slice('PROXY_'.length)})`,
    next: () =>
      'Check HTTPS_PROXY, and for HTTP 407 its user name and password. Check that the proxy allows the host in VOICE_AGENT_BASE_URL.',
  }),
  networkRow((code) => /^(ENOTFOUND|EAI_AGAIN)$/.test(code), {
    id: 'unknown_host',
    again: 'if harmless',
    what: (code) => `the host of the platform could not be found (${code})`,
    next: () =>
      'Check the network and the host in VOICE_AGENT_BASE_URL, then try again. voice-agent-mcp doctor finds the cause.',
  }),
  networkRow(() => true, {
    id: 'unreachable',
    again: 'if harmless',
    what: (code) => `the platform could not be reached (${code})`,
    next: (_, { session }) =>
      session.isSandbox
        ? 'Try again.'
        : 'Try again. If it persists, check the network and VOICE_AGENT_BASE_URL. voice-agent-mcp doctor finds the cause.',
  }),
  {
    id: 'timeout',
    again: 'if harmless',
    when: ({ kind }) => kind === 'timeout',
    what: (failure) =>
      `the platform did not answer within ${seconds('afterMs' in failure ? failure.afterMs : 0)} s`,
    next: () => 'Try again in a moment.',
  },
  {
    id: 'redirected',
    again: 'if harmless',
    when: ({ kind }) => kind === 'redirected',
    what: (failure) => redirectDescription(failure as Redirected),
    next: () => 'Tell the operator of this server to correct VOICE_AGENT_BASE_URL.',
  },
  {
    id: 'bad_id',
    again: 'no',
    when: ({ kind }) => kind === 'bad_parameter',
    what: () => 'an id is not valid in a path; nothing was sent',
    next: (_, { tool }) => `Correct it and call ${tool.name} again.`,
  },
  {
    id: 'not_recorded',
    again: 'yes',
    when: ({ kind }) => kind === 'not_recorded',
    what: (failure) => failureText(failure),
    next: () =>
      'Tell the user: this server records every change, and its operator has to repair the audit trail. The log of the server has the details.',
  },
  {
    id: 'cancelled',
    again: 'if harmless',
    when: () => true,
    what: () => 'the request was cancelled',
    next: () => '',
  },
]

export interface FailedCall {
  readonly tool: Pick<Tool, 'name' | 'route'>
  readonly session: Session
  /** Id of the tool call's account; `me`: the API key's own account. */
  readonly accountId: string
  /** The tool that shows whether something was created; `undefined`: there is none. */
  readonly check: string | undefined
  /** True if the caller may use the tool. Advice names only such tools. */
  readonly isExposed: (tool: string) => boolean
  /** Likely corrections, by argument. */
  readonly hints: Readonly<Record<string, string>>
}

/** One kind of failure and its advice. The first row that matches a failure gives the advice. */
export interface AdviceRow {
  /** Code by which programs recognise the failure. Part of the public interface. */
  readonly id: string
  readonly when: (failure: Failure, call: FailedCall) => boolean
  /** Description of the failure, with the platform's message if any. */
  readonly what: (failure: Failure, call: FailedCall) => string
  readonly next: (failure: Failure, call: FailedCall) => string
  /** Whether the same tool call may be retried: always, never, or only if repeating is harmless. */
  readonly again: 'yes' | 'no' | 'if harmless'
}

/** Advice with the id of its row. */
interface NamedAdvice extends Advice {
  readonly advice: string
}

export function adviceFor(error: ApiError, call: FailedCall): NamedAdvice {
  const { failure } = error
  const row = adviceRows.find(({ when }) => when(failure, call))
  // The last row matches every failure.
  if (!row) throw new Error(`No advice for ${failure.kind}`)
  const fields = fieldsOf(failure, call)
  return {
    advice: row.id,
    what: row.what(failure, call),
    fields,
    ...nextOf(row, error, call),
  }
}

/** The wrong arguments under the names that the tool uses, with likely corrections. */
function fieldsOf(failure: Failure, { hints, tool, session }: FailedCall): Advice['fields'] {
  if (failure.kind === 'bad_parameter') {
    return [{ argument: failure.name, message: `"${failure.value}" is not an id` }]
  }
  const reported = failure.kind === 'rejected' ? failure.errors : []
  const fields = reported.map(({ field, message, type }) => {
    const argument = ownArgumentOf(field, tool.name)
    const hint = Object.hasOwn(hints, argument) ? hints[argument] : undefined
    return { argument, message: hint ? `${message} ${hint}` : message, type }
  })
  const unreported = Object.entries(withoutPinned(hints, session)).filter(
    ([argument]) => !fields.some((field) => field.argument === argument),
  )
  return [...fields, ...unreported.map(([argument, message]) => ({ argument, message }))]
}

/** Drops a pinned account from the corrections, because callers cannot choose it. */
function withoutPinned({ account_id, ...hints }: FailedCall['hints'], { pinnedAccount }: Session) {
  return account_id === undefined || pinnedAccount !== undefined ? hints : { account_id, ...hints }
}

/** The tool's argument for a field that the platform names. */
function ownArgumentOf(field: string, tool: string): string {
  const argument = argumentOf(field)
  return tool === 'get_conversation' && argument === 'conversation_id' ? 'id' : argument
}

/**
 * Returns the next step. The row's text applies if repeating is harmless: reads, updates, deletes,
 * and requests that were not sent. Before another request is retried, the caller must check whether
 * it was done.
 */
function nextOf(
  row: AdviceRow,
  { failure, method, effect }: ApiError,
  call: FailedCall,
): Pick<Advice, 'next' | 'retryable'> {
  const next = row.next(failure, call)
  if (row.again !== 'if harmless') return { next, retryable: row.again === 'yes' }
  const maybeSent = !('maybeSent' in failure) || failure.maybeSent
  const isRepeatable = effect === 'reads' || method === 'PATCH' || method === 'DELETE'
  if (isRepeatable || !maybeSent) {
    return { next: `${maybeSent ? '' : 'Nothing was sent. '}${next}`.trim(), retryable: true }
  }
  const { tool, check } = call
  const state =
    'status' in failure && isSuccess(failure)
      ? 'Its status says that it was done.'
      : 'It may have been done nevertheless.'
  const look = check ? ` Look with ${check} before you call ${tool.name} again.` : ''
  return { next: `${state}${look}`, retryable: false }
}

/** A reply with an error status, readable or not. */
type ErrorReply = Rejected | Unreadable

const isReply = (failure: Failure): failure is ErrorReply =>
  failure.kind === 'rejected' || failure.kind === 'unreadable'

const isSuccess = ({ status }: { readonly status: number }): boolean =>
  status >= 200 && status < 300

/** Row for replies with certain error statuses. */
function statusRow(
  matches: (status: number, call: FailedCall) => boolean,
  row: Pick<AdviceRow, 'id' | 'again'> & {
    readonly next: (failure: ErrorReply, call: FailedCall) => string
  },
): AdviceRow {
  return {
    ...row,
    when: (failure, call) =>
      isReply(failure) && !isSuccess(failure) && matches(failure.status, call),
    what: (failure) => replyDescription(failure as ErrorReply),
    next: (failure, call) => row.next(failure as ErrorReply, call),
  }
}

function is(...statuses: number[]) {
  return (status: number) => statuses.includes(status)
}

/** Row for unreadable replies with a success status. */
function unreadableSuccessRow(
  matches: (failure: Unreadable) => boolean,
  { id, next }: Pick<AdviceRow, 'id'> & { readonly next: string },
): AdviceRow {
  return {
    id,
    again: 'if harmless',
    when: (failure) => failure.kind === 'unreadable' && isSuccess(failure) && matches(failure),
    what: (failure) => replyDescription(failure as Unreadable),
    next: () => next,
  }
}

/** Row for network failures with certain codes. */
function networkRow(
  matches: (code: string) => boolean,
  row: Pick<AdviceRow, 'id' | 'again' | 'next'> & { readonly what: (code: string) => string },
): AdviceRow {
  return {
    ...row,
    when: (failure) => failure.kind === 'network' && matches(failure.code),
    what: (failure) => row.what((failure as NetworkFailure).code),
  }
}

/** The platform's message, or a description of its reply. */
const replyDescription = (failure: Rejected | Unreadable): string =>
  failure.kind === 'rejected' ? rejection(failure) : unreadableReply(failure)

function rejection({ status, code, message, detail }: Rejected): string {
  const text = detail && detail !== message ? `${message} ${detail}` : message
  return `the platform refused it (HTTP ${status}, ${code}): ${text}`
}

function unreadableReply({ status, reason, detail, excerpt }: Unreadable): string {
  // The reply of a successful request has an unexpected shape. It is shown almost whole, because
  // this is the caller's only copy.
  const max = isSuccess({ status }) && reason === 'unexpected_shape' ? 20_000 : 300
  const shown =
    excerpt.length > max ? ` It begins: ${excerpt.slice(0, max)}` : excerpt && ` It is: ${excerpt}`
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

const redirectDescription = (failure: Redirected): string =>
  `the platform redirected (HTTP ${failure.status}) ${redirects[failure.reason](failure)}`

const redirects: Readonly<Record<Redirected['reason'], (failure: Redirected) => string>> = {
  elsewhere: ({ origin }) => `to ${origin}; the API key is not sent there`,
  not_repeatable: () => 'in a way that would send a different request',
  too_many: () => 'in a circle, or too often',
  nowhere: () => 'to no usable address',
}

const accountPhrase = ({ accountId }: FailedCall): string =>
  accountId === 'me' ? "the API key's own account" : `account ${accountId}`

/** Hint after a 404: the missing object if known, else every reference among the arguments. */
function notFoundHint(call: FailedCall): string {
  const { tool, session, accountId, isExposed, hints } = call
  const { path, body, params } = tool.route
  const missing = Object.keys(hints).filter((name) => kindOf(name) !== undefined)
  if (missing.includes('account_id') && session.pinnedAccount !== undefined) {
    return `The platform does not know ${accountPhrase(call)}, which this server was started with (--account): the operator has to correct it.`
  }
  const isOther = 'account_id' in params.shape && session.pinnedAccount === undefined
  const names = missing.length > 0 ? missing : referencesOf(path, body?.shape)
  if (names.length > 0) {
    const checks = names.map((name) => withListTool(name, isExposed)).join(', ')
    return `Check ${checks}. It was searched in ${accountPhrase(call)}.`
  }
  return isOther && accountId !== 'me'
    ? `Check ${withListTool('account_id', isExposed)}; if it is right, check VOICE_AGENT_BASE_URL.`
    : 'The platform has nothing at this address: check VOICE_AGENT_BASE_URL.'
}

/** An argument name, with the tool that lists its values if the caller may use that tool. */
function withListTool(name: string, isExposed: FailedCall['isExposed']): string {
  const tool = kindOf(name)?.listTool
  return tool !== undefined && isExposed(tool) ? `${name} with ${tool}` : name
}

/** Names the tools that list existing ids. */
function lookHint({ tool, isExposed }: FailedCall): string {
  const { path, body } = tool.route
  const places = referencesOf(path, body?.shape)
    .map((name) => kindOf(name)?.listTool)
    .filter((name) => name !== undefined && isExposed(name))
  return places.length > 0 ? ` See what there is with ${[...new Set(places)].join(' or ')}.` : ''
}

/**
 * Says who can enable the API key's own account, or names the tool that enables another account.
 * Empty if that tool is not exposed.
 */
const enableHint = ({ accountId, isExposed }: FailedCall) => {
  if (accountId === 'me') return '. Its parent account, or who runs the platform, can enable it'
  return isExposed('update_subaccount')
    ? `. Enable it (update_subaccount with subaccount_id ${accountId}, is_active true)`
    : ''
}

/** Names the tools that list the accounts of the API key. */
function reachHint({ isExposed }: FailedCall): string {
  const ways = [
    isExposed('get_current_account') && 'get_current_account shows the account of the key',
    isExposed('list_subaccounts') && 'list_subaccounts what else it reaches',
  ].filter((way) => way !== false)
  return ways.length > 0 ? `: ${ways.join(', ')}` : ''
}

const seconds = (ms: number) => Math.round(ms / 100) / 10

const isDisabled = (failure: Failure) =>
  failure.kind === 'rejected' && /disabled|inactive|deactivated/i.test(failure.message)

const waitHint = (wait: number | null) =>
  wait === null
    ? 'Too many requests. Wait a minute, then try again.'
    : `Wait ${wait} s, then try again.`
