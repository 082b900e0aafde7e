import {
  type Failure,
  isCertificateProblem,
  type NetworkFailure,
  type Redirected,
  type Rejected,
  type Unreadable,
} from '../../api/failure.ts'
import type { Route } from '../../contract/route.ts'
import type { Session } from '../../session/session.ts'
import { referencesOf } from '../hints/missing.ts'
import { lists, notFoundHint } from './not-found.ts'

/** The tool whose call failed. */
interface FailedTool {
  readonly name: string
  readonly route: Route
}

/** Whose failure it is, and what is known around it. */
export interface Situation {
  readonly tool: FailedTool
  readonly session: Session
  /** The account it was for, in words. */
  readonly account: string
  /** The tool that shows whether something was created, where there is one. */
  readonly check: string | undefined
  /** What may have been meant, by argument. */
  readonly hints: Readonly<Record<string, string>>
}

/** One kind of failure and its advice. The first row that takes a failure speaks. */
export interface Row {
  /** A word that programs can go by; part of the interface. */
  readonly id: string
  readonly when: (failure: Failure, situation: Situation) => boolean
  /** What happened, in the platform's own words where it said any. */
  readonly what: (failure: Failure, situation: Situation) => string
  /** What to do. */
  readonly next: (failure: Failure, situation: Situation) => string
  /** Whether the same call can succeed later, or only if repeating it does no harm. */
  readonly again: 'yes' | 'no' | 'if harmless'
}

/** A reply that says no, readable or not: its status says what it means. */
type Answered = Rejected | Unreadable

const isAnswered = (failure: Failure): failure is Answered =>
  failure.kind === 'rejected' || failure.kind === 'unreadable'

const isSuccess = ({ status }: Answered) => status >= 200 && status < 300

/** A row for replies with certain statuses. */
const status = (
  matches: (status: number, situation: Situation) => boolean,
  row: Pick<Row, 'id' | 'again'> & { next: (failure: Answered, situation: Situation) => string },
): Row => ({
  ...row,
  when: (failure, situation) =>
    isAnswered(failure) && !isSuccess(failure) && matches(failure.status, situation),
  what: (failure) => said(failure as Answered),
  next: (failure, situation) => row.next(failure as Answered, situation),
})

/** A row for replies of a successful status that cannot be read. */
const success = (
  matches: (failure: Unreadable) => boolean,
  row: Pick<Row, 'id'> & { next: string },
): Row => ({
  id: row.id,
  again: 'if harmless',
  when: (failure) => failure.kind === 'unreadable' && isSuccess(failure) && matches(failure),
  what: (failure) => said(failure as Unreadable),
  next: () => row.next,
})

const network = (
  matches: (code: string) => boolean,
  row: Pick<Row, 'id' | 'again'> & { what: (code: string) => string; next: Row['next'] },
): Row => ({
  ...row,
  when: (failure) => failure.kind === 'network' && matches(failure.code),
  what: (failure) => row.what((failure as NetworkFailure).code),
})

const is =
  (...statuses: number[]) =>
  (one: number) =>
    statuses.includes(one)

export const rows: readonly Row[] = [
  status(is(401), {
    id: 'key_refused',
    again: 'no',
    next: (_, { session }) =>
      `The API key was taken from ${session.keySource}; a valid one has to be put there. Trying again will not help.`,
  }),
  status((one) => one === 403, {
    id: 'no_access',
    again: 'no',
    next: (failure, { account }) =>
      isDisabled(failure)
        ? `It was for ${account}, which is disabled: update_subaccount with is_active true, called on its parent account, enables it again.`
        : `It was for ${account}. The API key has no access to it, or it is disabled: get_current_account shows the account of the key, list_subaccounts what else it reaches.`,
  }),
  status(is(402), {
    id: 'payment_required',
    again: 'no',
    next: (_, { account }) =>
      `It was for ${account}. Its credit or plan does not cover this: somebody has to see to that with the platform, then it can be tried again.`,
  }),
  status(is(405), {
    id: 'not_offered',
    again: 'no',
    next: (_, { tool }) =>
      `The platform does not offer ${tool.route.method} here, so ${tool.name} cannot work with it. Check VOICE_AGENT_BASE_URL; a proxy in front of the platform may refuse it, too.`,
  }),
  status(is(410), {
    id: 'gone',
    again: 'no',
    next: (_, { tool }) =>
      `It was there and has been removed for good; the same id will not come back.${lookHint(tool)}`,
  }),
  status(is(404), {
    id: 'not_found',
    again: 'no',
    next: (_, situation) => notFoundHint(situation),
  }),
  status(is(400), {
    id: 'bad_request',
    again: 'no',
    next: (_, { tool }) => `Correct the arguments and call ${tool.name} again.`,
  }),
  status(is(409), {
    id: 'conflict',
    again: 'no',
    next: (_, { tool }) => `Resolve what it conflicts with, then call ${tool.name} again.`,
  }),
  status(is(422), {
    id: 'invalid',
    again: 'no',
    next: (_, { tool }) => `Correct the arguments named and call ${tool.name} again.`,
  }),
  status(is(429), {
    id: 'rate_limited',
    again: 'yes',
    next: ({ retryAfter }) => waitHint(retryAfter),
  }),
  status((one, { session }) => one >= 500 && session.isSandbox, {
    id: 'sandbox_broken',
    again: 'no',
    // The sandbox says itself what is wrong with it, most often with its file.
    next: () => 'This is the sandbox on this machine: do what the message says.',
  }),
  status(is(502, 503, 504), {
    id: 'unavailable',
    again: 'if harmless',
    next: ({ retryAfter }) =>
      retryAfter === null
        ? 'The platform, or a proxy in front of it, is not available: try again in a minute; if it stays, check VOICE_AGENT_BASE_URL.'
        : waitHint(retryAfter),
  }),
  status((one) => one >= 500, {
    id: 'platform_error',
    again: 'if harmless',
    next: () =>
      'Try again later; if it stays, give the support of the platform the request id, or check VOICE_AGENT_BASE_URL.',
  }),
  status(() => true, {
    id: 'refused',
    again: 'no',
    next: () => 'See the message of the platform.',
  }),
  success(({ reason }) => reason === 'too_large', {
    id: 'too_large',
    next: 'Ask for less: a smaller limit, or narrower filters.',
  }),
  success(({ reason }) => reason === 'unexpected_shape', {
    id: 'odd_shape',
    next: 'Use what is shown with care, and report the difference.',
  }),
  success(() => true, {
    id: 'unreadable',
    next: 'Try again; if it stays, VOICE_AGENT_BASE_URL may not point to the platform.',
  }),
  network(isCertificateProblem, {
    id: 'certificate',
    again: 'no',
    what: (code) => `the certificate of the platform is not trusted (${code}); nothing was sent`,
    next: () =>
      'Trying again will not help. Check VOICE_AGENT_BASE_URL; where a company proxy or a certificate authority of your own signs, name its certificate with NODE_EXTRA_CA_CERTS.',
  }),
  network((code) => /^PROXY_\d+$/.test(code), {
    id: 'proxy_refused',
    again: 'if harmless',
    what: (code) =>
      `the proxy did not connect to the platform (HTTP ${code.slice('PROXY_'.length)}); nothing was sent`,
    next: () =>
      'Check HTTPS_PROXY, with the user name and password in it where the proxy asks for them (HTTP 407), and that the proxy allows the host in VOICE_AGENT_BASE_URL.',
  }),
  network((code) => /^(ENOTFOUND|EAI_AGAIN)$/.test(code), {
    id: 'unknown_host',
    again: 'if harmless',
    what: (code) => `the host of the platform could not be found (${code})`,
    next: () => 'Check the network and the host in VOICE_AGENT_BASE_URL, then try again.',
  }),
  network(() => true, {
    id: 'unreachable',
    again: 'if harmless',
    what: (code) => `the platform could not be reached (${code})`,
    next: (_, { session }) =>
      session.isSandbox
        ? 'Try again.'
        : 'Try again; if it stays, check the network and VOICE_AGENT_BASE_URL.',
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
    what: (failure) => redirect(failure as Redirected),
    next: () => 'Ask whoever set VOICE_AGENT_BASE_URL to correct it.',
  },
  {
    id: 'bad_id',
    again: 'no',
    when: ({ kind }) => kind === 'bad_parameter',
    what: () => 'an id is not usable in a path; nothing was sent',
    next: (_, { tool }) => `Correct it and call ${tool.name} again.`,
  },
  {
    id: 'cancelled',
    again: 'if harmless',
    when: () => true,
    what: () => 'the request was cancelled',
    next: () => '',
  },
]

/** Where to look for what is still there. */
function lookHint({ route: { path, body } }: FailedTool): string {
  const places = referencesOf(path, body?.shape).map((name) => lists[name])
  return places.length > 0 ? ` See what there is with ${[...new Set(places)].join(' or ')}.` : ''
}

const seconds = (ms: number) => Math.round(ms / 100) / 10

const isDisabled = (failure: Answered) =>
  failure.kind === 'rejected' && /disabled|inactive|deactivated/i.test(failure.message)

const waitHint = (wait: number | null) =>
  wait === null
    ? 'Too many requests. Wait a minute, then try again.'
    : `Wait ${wait} s, then try again.`

const redirects: Readonly<Record<Redirected['reason'], (failure: Redirected) => string>> = {
  elsewhere: ({ origin }) => `to ${origin}; the API key is not taken there`,
  not_repeatable: () => 'in a way that would send something else than was asked',
  too_many: () => 'in a circle, or too often',
  nowhere: () => 'to no usable address',
}

const redirect = (failure: Redirected) =>
  `the platform redirected (HTTP ${failure.status}) ${redirects[failure.reason](failure)}`

const reasons: Readonly<Record<Unreadable['reason'], string>> = {
  html: 'an HTML page instead of JSON, most likely from a proxy in front of it',
  empty: 'an empty reply',
  cut_off: 'a reply that broke off',
  not_json: 'a reply that is not JSON',
  too_large: 'a reply of more than 10 MiB or of more than 300,000 values, which was not read',
  unexpected_shape: 'JSON of an undocumented shape',
}

/** What the platform said, in its own words, or what stands in their place. */
function said(failure: Answered): string {
  if (failure.kind === 'rejected') {
    const { status: code, message, detail } = failure
    const words = detail && detail !== message ? `${message} ${detail}` : message
    return `the platform refused it (HTTP ${code}, ${failure.code}): ${words}`
  }
  const { status: code, reason, detail, excerpt } = failure
  // Data that only looks different is still data: it is shown, so that nothing is lost.
  const most = isSuccess(failure) && reason === 'unexpected_shape' ? 20_000 : 300
  const shown =
    excerpt.length > most
      ? ` It begins: ${excerpt.slice(0, most)}`
      : excerpt && ` It is: ${excerpt}`
  return `the platform answered HTTP ${code} with ${reasons[reason]}${detail ? ` (${detail})` : ''}.${shown}`
}
