import {
  type ApiError,
  type Failure,
  isCertificateProblem,
  type NetworkFailure,
  type Redirected,
  type Rejected,
  type Unreadable,
} from '../api/failure.ts'
import type { Session } from './session.ts'
import type { Tool } from './tool.ts'

/** A failure in words: what happened, which arguments, what to do next. */
export interface Advice {
  readonly what: string
  readonly fields: readonly { argument: string; message: string; type?: string }[]
  readonly next: string
  /** Whether the very same call can succeed later. */
  readonly retryable: boolean
}

interface Situation {
  readonly tool: Tool
  readonly session: Session
  /** The tool that shows whether something was created, where there is one. */
  readonly check: string | undefined
}

/** Turns a failure of the API into advice. The one place where failures become words. */
export function adviceFor({ failure }: ApiError, situation: Situation): Advice {
  const { tool } = situation
  switch (failure.kind) {
    case 'rejected':
      return rejected(failure, situation)
    case 'unreadable':
      return unreadable(failure, situation)
    case 'network':
      if (isCertificateProblem(failure.code)) return untrusted(failure)
      return {
        what: `the platform could not be reached (${failure.code})`,
        ...unsure(failure, situation, networkHint(situation)),
      }
    case 'timeout':
      return {
        what: `the platform did not answer within ${Math.round(failure.afterMs / 100) / 10} s`,
        ...unsure(failure, situation, 'Try again in a moment.'),
      }
    case 'redirected':
      return {
        what: `the platform redirected (HTTP ${failure.status}) ${redirects[failure.reason](failure)}`,
        ...unsure(
          { maybeSent: true },
          situation,
          'Ask whoever set VOICE_AGENT_BASE_URL to correct it.',
        ),
      }
    case 'bad_parameter':
      return {
        what: 'an id is not usable in a path',
        fields: [{ argument: failure.name, message: `"${failure.value}" is not an id` }],
        next: `Correct it and call ${tool.name} again.`,
        retryable: false,
      }
    case 'cancelled':
      return { what: 'the request was cancelled', ...unsure(failure, situation, '') }
  }
}

/** The handshake ended before the request, so nothing was sent. */
const untrusted = ({ code }: NetworkFailure): Advice => ({
  what: `the certificate of the platform is not trusted (${code}); nothing was sent`,
  fields: [],
  next: 'Trying again will not help. Check VOICE_AGENT_BASE_URL; where a company proxy or a certificate authority of your own signs, name its certificate with NODE_EXTRA_CA_CERTS.',
  retryable: false,
})

const redirects: Readonly<Record<Redirected['reason'], (failure: Redirected) => string>> = {
  elsewhere: ({ origin }) => `to ${origin}; the API key is not taken there`,
  not_repeatable: () => 'in a way that would send something else than was asked',
  too_many: () => 'in a circle, or too often',
  nowhere: () => 'to no usable address',
}

/** What a status means for the caller; for others the platform's own words have to do. */
const nextByStatus: Readonly<Record<number, (situation: Situation) => string>> = {
  400: ({ tool }) => `Correct the arguments and call ${tool.name} again.`,
  401: ({ session }) =>
    `The API key was taken from ${session.keySource}; a valid one has to be put there. Trying again will not help.`,
  403: () =>
    'The API key has no access to this, or the account is disabled. get_current_account shows the account of the key; list_subaccounts shows what else it reaches.',
  404: ({ tool }) => notFoundHint(tool),
  409: ({ tool }) => `Resolve what it conflicts with, then call ${tool.name} again.`,
  422: ({ tool }) => `Correct the arguments named and call ${tool.name} again.`,
}

/** The sandbox says itself what is wrong with it, most often with its file. */
const sandboxBroken = {
  fields: [],
  next: 'This is the sandbox on this machine: do what the message says.',
  retryable: false,
}

const brokenHint = 'Try again later; if it stays, give the support of the platform the request id.'

function rejected(failure: Rejected, situation: Situation): Advice {
  const { status, code, message, detail, errors, retryAfter } = failure
  const said = detail && detail !== message ? `${message} ${detail}` : message
  const what = `the platform refused it (HTTP ${status}, ${code}): ${said}`
  // A server error says nothing about whether the work was done before it.
  if (status >= 500 && situation.session.isSandbox) return { what, ...sandboxBroken }
  if (status >= 500) return { what, ...unsure({ maybeSent: true }, situation, brokenHint) }
  return {
    what,
    fields: errors.map(({ field, message, type }) => ({
      argument: argumentOf(field),
      message,
      type,
    })),
    next:
      status === 429
        ? waitHint(retryAfter)
        : (nextByStatus[status]?.(situation) ?? 'See the message of the platform.'),
    retryable: status === 429,
  }
}

/** The platform's `body.voice.speed` or `query.page` as the tool's own argument. */
function argumentOf(field: string): string {
  return field.replace(/^(body|query|path)\./, '')
}

const waitHint = (seconds: number | null) =>
  seconds === null
    ? 'Too many requests. Wait a minute, then try again.'
    : `Wait ${seconds} s, then try again.`

function notFoundHint({ route }: Tool): string {
  const noun = route.id.split('.')[0]
  const namesOne = /\{(?!account_id)\w+\}$/.test(route.path)
  const account = namesOne
    ? 'the account with list_subaccounts'
    : 'account_id with list_subaccounts'
  if (!namesOne) return `Check ${account}.`
  return noun === 'subaccounts'
    ? 'Check the id with list_subaccounts.'
    : `Check the id with list_${noun} and ${account}.`
}

const reasons: Readonly<Record<Unreadable['reason'], string>> = {
  html: 'an HTML page instead of JSON, most likely from a proxy in front of it',
  empty: 'an empty reply',
  cut_off: 'a reply that broke off',
  not_json: 'a reply that is not JSON',
  too_large: 'a reply of more than 10 MiB, which was not read',
  unexpected_shape: 'JSON of an undocumented shape',
}

function unreadable(failure: Unreadable, situation: Situation): Advice {
  const { status, reason, detail, excerpt, retryAfter } = failure
  const succeeded = status >= 200 && status < 300
  // Data that only looks different is still data: it is shown, so that nothing is lost.
  const most = succeeded && reason === 'unexpected_shape' ? 20_000 : 300
  const readable = situation.session.redact(excerpt)
  const shown =
    readable.length > most
      ? ` It begins: ${readable.slice(0, most)}`
      : readable && ` It is: ${readable}`
  const what = `the platform answered HTTP ${status} with ${reasons[reason]}${detail ? ` (${detail})` : ''}.${shown}`
  const wait = retryAfter === null ? null : waitHint(retryAfter)
  if (status === 429) return { what, fields: [], next: waitHint(retryAfter), retryable: true }
  // What these statuses mean needs no envelope: it was refused, and not done.
  const known = status < 500 && nextByStatus[status]?.(situation)
  if (known) return { what, fields: [], next: known, retryable: false }
  const hints: Partial<Record<Unreadable['reason'], string>> = {
    too_large: 'Ask for less: a smaller limit, or narrower filters.',
    ...(succeeded && {
      unexpected_shape: 'Use what is shown with care, and report the difference.',
    }),
  }
  const otherwise = succeeded
    ? 'Try again; if it stays, VOICE_AGENT_BASE_URL may not point to the platform.'
    : 'Try again later; if it stays, check VOICE_AGENT_BASE_URL.'
  return {
    what,
    ...unsure({ maybeSent: true, succeeded }, situation, hints[reason] ?? wait ?? otherwise),
  }
}

/**
 * What to do when nobody knows whether it was done. Reading again is harmless, and so is writing
 * the same values or removing the same thing; creating and calling are not.
 */
function unsure(
  failure: Pick<Failure & { maybeSent: boolean }, 'maybeSent'> & { succeeded?: boolean },
  { tool, check }: Situation,
  hint: string,
): Omit<Advice, 'what'> {
  const { effect, method } = tool.route
  const isRepeatable = effect === 'reads' || method === 'PATCH' || method === 'DELETE'
  if (isRepeatable || !failure.maybeSent) {
    const unchanged = failure.maybeSent ? '' : 'Nothing was sent. '
    return { fields: [], next: `${unchanged}${hint}`.trim(), retryable: true }
  }
  const state = failure.succeeded
    ? 'By its status it was done.'
    : 'It may have been done all the same.'
  const look = check ? ` Look with ${check} before you call ${tool.name} again.` : ''
  return { fields: [], next: `${state}${look}`, retryable: false }
}

const networkHint = ({ session }: Situation) =>
  session.isSandbox
    ? 'Try again.'
    : 'Try again; if it stays, check the network and VOICE_AGENT_BASE_URL.'
