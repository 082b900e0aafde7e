import {
  type Failure,
  failureText,
  isCertificateProblem,
  type Redirected,
} from '../platform/failure.ts'
import {
  type AdviceRow,
  type FailedCall,
  networkRow,
  notFoundHint,
  redirectDescription,
  statusRow,
  unreadableSuccessRow,
} from './advice-row.ts'
import { kindOf, referencesOf } from './hints/references.ts'

const is =
  (...statuses: number[]) =>
  (one: number) =>
    statuses.includes(one)

/** What to do about each kind of failure, such as a 401: `key_refused`. */
export const adviceRows: readonly AdviceRow[] = [
  statusRow(is(401), {
    id: 'key_refused',
    again: 'no',
    next: (_, { session }) =>
      `The platform does not accept the API key from ${session.keySource}: put a valid key there. Trying again will not help.`,
  }),
  statusRow((one) => one === 403, {
    id: 'no_access',
    again: 'no',
    next: (failure, call) =>
      isDisabled(failure)
        ? `It was for ${call.account}, which is disabled${enableHint(call)}.`
        : `It was for ${call.account}. The API key has no access to it, or it is disabled${reachHint(call)}.`,
  }),
  statusRow(is(402), {
    id: 'payment_required',
    again: 'no',
    next: (_, { account }) =>
      `It was for ${account}. Its credit or plan does not cover this. Change that with the platform first, then try again.`,
  }),
  statusRow(is(405), {
    id: 'not_offered',
    again: 'no',
    next: (_, { tool }) =>
      `The platform does not offer ${tool.route.method} here, so ${tool.name} cannot work with it. Check VOICE_AGENT_BASE_URL; a proxy in front of the platform may refuse it, too.`,
  }),
  statusRow(is(410), {
    id: 'gone',
    again: 'no',
    next: (_, call) =>
      `It has been removed permanently; this id will not work again.${lookHint(call)}`,
  }),
  statusRow(is(404), {
    id: 'not_found',
    again: 'no',
    next: (_, situation) => notFoundHint(situation),
  }),
  statusRow(is(400), {
    id: 'bad_request',
    again: 'no',
    next: (_, { tool }) => `Correct the arguments and call ${tool.name} again.`,
  }),
  statusRow(is(409), {
    id: 'conflict',
    again: 'no',
    next: (_, { tool }) => `Resolve what it conflicts with, then call ${tool.name} again.`,
  }),
  statusRow(is(422), {
    id: 'invalid',
    again: 'no',
    next: (_, { tool }) => `Correct the arguments named and call ${tool.name} again.`,
  }),
  statusRow(is(429), {
    id: 'rate_limited',
    again: 'yes',
    next: ({ retryAfter }) => waitHint(retryAfter),
  }),
  statusRow((one, { session }) => one >= 500 && session.isSandbox, {
    id: 'sandbox_broken',
    again: 'no',
    // The sandbox's own message says what is wrong, most often with its file.
    next: () => 'This is the sandbox on this machine: do what the message says.',
  }),
  statusRow(is(502, 503, 504), {
    id: 'unavailable',
    again: 'if harmless',
    next: ({ retryAfter }) =>
      retryAfter === null
        ? 'The platform, or a proxy in front of it, is not available: try again in a minute; if it persists, check VOICE_AGENT_BASE_URL.'
        : waitHint(retryAfter),
  }),
  statusRow((one) => one >= 500, {
    id: 'platform_error',
    again: 'if harmless',
    next: () =>
      "Try again later; if it persists, give the platform's support the request id, or check VOICE_AGENT_BASE_URL.",
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
    next: 'Use what is shown with care, and report the difference.',
  }),
  unreadableSuccessRow(() => true, {
    id: 'unreadable',
    next: 'Try again; if it persists, VOICE_AGENT_BASE_URL may not point to the platform.',
  }),
  networkRow(isCertificateProblem, {
    id: 'certificate',
    again: 'no',
    what: (code) => `the certificate of the platform is not trusted (${code}); nothing was sent`,
    next: () =>
      'Trying again will not help. Check VOICE_AGENT_BASE_URL; where a company proxy or a certificate authority of your own signs, name its certificate with NODE_EXTRA_CA_CERTS.',
  }),
  networkRow((code) => /^PROXY_\d+$/.test(code), {
    id: 'proxy_refused',
    again: 'if harmless',
    what: (code) =>
      `the proxy did not connect to the platform (HTTP ${code.slice('PROXY_'.length)}); nothing was sent`,
    next: () =>
      'Check HTTPS_PROXY, with the user name and password in it where the proxy asks for them (HTTP 407), and that the proxy allows the host in VOICE_AGENT_BASE_URL.',
  }),
  networkRow((code) => /^(ENOTFOUND|EAI_AGAIN)$/.test(code), {
    id: 'unknown_host',
    again: 'if harmless',
    what: (code) => `the host of the platform could not be found (${code})`,
    next: () =>
      'Check the network and the host in VOICE_AGENT_BASE_URL (voice-agent-mcp doctor tells what is wrong), then try again.',
  }),
  networkRow(() => true, {
    id: 'unreachable',
    again: 'if harmless',
    what: (code) => `the platform could not be reached (${code})`,
    next: (_, { session }) =>
      session.isSandbox
        ? 'Try again.'
        : 'Try again; if it persists, check the network and VOICE_AGENT_BASE_URL (voice-agent-mcp doctor tells what is wrong).',
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
    next: () => 'VOICE_AGENT_BASE_URL has to be corrected: tell the operator of this server.',
  },
  {
    id: 'bad_id',
    again: 'no',
    when: ({ kind }) => kind === 'bad_parameter',
    what: () => 'an id is not usable in a path; nothing was sent',
    next: (_, { tool }) => `Correct it and call ${tool.name} again.`,
  },
  {
    id: 'not_recorded',
    again: 'yes',
    when: ({ kind }) => kind === 'not_recorded',
    what: (failure) => failureText(failure),
    next: () =>
      'Nothing was sent. Tell the user: the operator of this server wants every change recorded, and has to repair the audit trail. The log of the server has the details.',
  },
  {
    id: 'cancelled',
    again: 'if harmless',
    when: () => true,
    what: () => 'the request was cancelled',
    next: () => '',
  },
]

/** The tools that list what there is. */
function lookHint({ tool, isExposed }: FailedCall): string {
  const { path, body } = tool.route
  const places = referencesOf(path, body?.shape)
    .map((name) => kindOf(name)?.listTool)
    .filter((name) => name !== undefined && isExposed(name))
  return places.length > 0 ? ` See what there is with ${[...new Set(places)].join(' or ')}.` : ''
}

/** How a disabled account is enabled again, where the caller can do that. */
const enableHint = ({ isExposed }: FailedCall) =>
  isExposed('update_subaccount')
    ? ': update_subaccount with is_active true, called on its parent account, enables it again'
    : ''

/** How the caller finds out which accounts the key has access to. */
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
