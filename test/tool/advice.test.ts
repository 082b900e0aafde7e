import { describe, expect, test } from 'vitest'
import {
  ApiError,
  type Failure,
  type Rejected,
  type Unreadable,
} from '../../src/platform/failure.ts'
import { adviceFor, adviceRows } from '../../src/tool/advice.ts'
import { tools } from '../../tools/index.ts'
import { sessionOf } from '../harness/session.ts'

const client = { call: () => Promise.reject(new Error('not called')) }

function adviseOn(
  failure: Failure,
  name: string,
  isSandbox = false,
  isExposed: (tool: string) => boolean = () => true,
) {
  const tool = tools.find((candidate) => candidate.name === name)
  if (!tool) throw new Error(`No tool ${name}`)
  return adviceFor(new ApiError(failure, { ...tool.route, attempts: 1 }), {
    tool,
    session: sessionOf(client, { isSandbox, keySource: 'VOICE_AGENT_API_KEY' }),
    account: 'account a-1',
    check: name === 'place_call' ? 'list_calls' : undefined,
    isExposed,
    hints: {},
  })
}

const rejected = (status: number, code: string, more: Partial<Rejected> = {}): Rejected => ({
  kind: 'rejected',
  status,
  code,
  message: `It is ${code}.`,
  detail: null,
  errors: [],
  requestId: null,
  retryAfter: null,
  ...more,
})

const unreadable = (status: number, more: Partial<Unreadable>): Unreadable => ({
  kind: 'unreadable',
  status,
  reason: 'empty',
  detail: null,
  excerpt: '',
  requestId: null,
  retryAfter: null,
  ...more,
})

const network = (code: string, maybeSent = true): Failure => ({ kind: 'network', code, maybeSent })

/** A failure, and its advice: the row, what happened, what to do, whether to repeat the call. */
const cases: [
  row: string,
  failure: Failure,
  tool: string,
  what: RegExp,
  next: RegExp,
  retryable: boolean,
][] = [
  [
    'key_refused',
    rejected(401, 'unauthorized'),
    'list_agents',
    /401, unauthorized\): It is/,
    /VOICE_AGENT_API_KEY: put a valid key there/,
    false,
  ],
  [
    'key_refused',
    unreadable(401, { reason: 'html' }),
    'list_agents',
    /401 with an HTML page/,
    /does not accept the API key from VOICE_AGENT_API_KEY/,
    false,
  ],
  [
    'no_access',
    rejected(403, 'forbidden'),
    'list_agents',
    /403, forbidden/,
    /It was for account a-1\..*get_current_account/,
    false,
  ],
  [
    'no_access',
    rejected(403, 'forbidden', { message: 'The account is disabled.' }),
    'place_call',
    /disabled/,
    /account a-1, which is disabled: update_subaccount with is_active true/,
    false,
  ],
  [
    'payment_required',
    rejected(402, 'payment_required'),
    'place_call',
    /402, payment_required/,
    /It was for account a-1\. Its credit or plan/,
    false,
  ],
  [
    'not_offered',
    rejected(405, 'method_not_allowed'),
    'archive_agent',
    /405, method_not_allowed/,
    /does not offer DELETE here, so archive_agent cannot work.*VOICE_AGENT_BASE_URL/,
    false,
  ],
  [
    'gone',
    rejected(410, 'gone'),
    'get_agent',
    /410, gone/,
    /removed permanently.*See what there is with list_agents\./,
    false,
  ],
  [
    'gone',
    unreadable(410, {}),
    'list_models',
    /410 with an empty reply/,
    /not work again\.$/,
    false,
  ],
  ['not_found', rejected(404, 'not_found'), 'get_agent', /404, not_found/, /list_agents/, false],
  [
    'not_found',
    rejected(404, 'not_found'),
    'list_agents',
    /404/,
    /account_id with list_subaccounts/,
    false,
  ],
  [
    'bad_request',
    rejected(400, 'bad_request'),
    'create_agent',
    /400/,
    /Correct the arguments and call create_agent again/,
    false,
  ],
  [
    'conflict',
    rejected(409, 'conflict', { detail: 'It has numbers.' }),
    'delete_sip_trunk',
    /It is conflict\. It has numbers\./,
    /Resolve/,
    false,
  ],
  [
    'invalid',
    rejected(422, 'validation_error'),
    'create_agent',
    /422/,
    /Correct the arguments named/,
    false,
  ],
  [
    'rate_limited',
    rejected(429, 'rate_limit_exceeded', { retryAfter: 7 }),
    'place_call',
    /429/,
    /Wait 7 s, then try again/,
    true,
  ],
  [
    'rate_limited',
    unreadable(429, {}),
    'list_agents',
    /429 with an empty reply/,
    /Wait a minute/,
    true,
  ],
  [
    'unavailable',
    rejected(503, 'unavailable'),
    'list_agents',
    /503/,
    /not available: try again in a minute/,
    true,
  ],
  [
    'unavailable',
    unreadable(502, { reason: 'html', retryAfter: 9 }),
    'list_agents',
    /HTML page .* proxy/,
    /Wait 9 s/,
    true,
  ],
  [
    'unavailable',
    unreadable(504, {}),
    'place_call',
    /504/,
    /may have been done nevertheless\. Look with list_calls before/,
    false,
  ],
  [
    'platform_error',
    rejected(500, 'internal_error'),
    'update_agent',
    /500, internal_error/,
    /Try again later.*request id/,
    true,
  ],
  [
    'platform_error',
    rejected(500, 'internal_error'),
    'create_agent',
    /500/,
    /may have been done/,
    false,
  ],
  [
    'sandbox_broken',
    rejected(500, 'internal_error'),
    'list_agents',
    /500/,
    /sandbox on this machine/,
    false,
  ],
  ['refused', rejected(418, 'i_am_new'), 'list_agents', /418, i_am_new/, /See the message/, false],
  [
    'too_large',
    unreadable(200, { reason: 'too_large' }),
    'list_agents',
    /more than 10 MiB/,
    /Ask for less/,
    true,
  ],
  [
    'odd_shape',
    unreadable(200, { reason: 'unexpected_shape', excerpt: '{"a":1}' }),
    'get_agent',
    /undocumented shape\. It is: \{"a":1\}/,
    /Use what is shown with care/,
    true,
  ],
  [
    'odd_shape',
    unreadable(201, { reason: 'unexpected_shape', excerpt: '{}' }),
    'place_call',
    /undocumented/,
    /Its status says that it was done\. Look with list_calls/,
    false,
  ],
  [
    'unreadable',
    unreadable(200, { reason: 'cut_off', excerpt: '{"a' }),
    'get_agent',
    /was cut off\. It is: \{"a/,
    /Try again; if it persists/,
    true,
  ],
  [
    'unreadable',
    unreadable(200, { reason: 'not_json', excerpt: 'OK' }),
    'list_agents',
    /not JSON/,
    /may not point to the platform/,
    true,
  ],
  [
    'certificate',
    network('DEPTH_ZERO_SELF_SIGNED_CERT', false),
    'list_agents',
    /certificate .* not trusted/,
    /NODE_EXTRA_CA_CERTS/,
    false,
  ],
  [
    'certificate',
    network('UNABLE_TO_VERIFY_LEAF_SIGNATURE', false),
    'place_call',
    /nothing was sent/,
    /will not help/,
    false,
  ],
  [
    'proxy_refused',
    network('PROXY_407', false),
    'place_call',
    /proxy did not connect .*407.*nothing was sent/,
    /Check HTTPS_PROXY/,
    true,
  ],
  [
    'unknown_host',
    network('ENOTFOUND', false),
    'place_call',
    /could not be found \(ENOTFOUND\)/,
    /^Nothing was sent\. Check the network/,
    true,
  ],
  [
    'unreachable',
    network('ECONNREFUSED', false),
    'place_call',
    /could not be reached \(ECONNREFUSED\)/,
    /^Nothing was sent\. Try again/,
    true,
  ],
  [
    'unreachable',
    network('ECONNRESET'),
    'place_call',
    /ECONNRESET/,
    /may have been done nevertheless/,
    false,
  ],
  [
    'timeout',
    { kind: 'timeout', waitingFor: 'headers', afterMs: 30_012, maybeSent: true },
    'list_agents',
    /within 30 s/,
    /Try again in a moment/,
    true,
  ],
  [
    'timeout',
    { kind: 'timeout', waitingFor: 'body', afterMs: 310, maybeSent: true },
    'place_call',
    /within 0\.3 s/,
    /Look with list_calls/,
    false,
  ],
  [
    'redirected',
    { kind: 'redirected', status: 302, reason: 'elsewhere', origin: 'https://e.example' },
    'list_agents',
    /to https:\/\/e\.example; the API key is not sent there/,
    /has to be corrected/,
    true,
  ],
  [
    'redirected',
    { kind: 'redirected', status: 303, reason: 'not_repeatable', origin: '' },
    'place_call',
    /a different request/,
    /may have been done/,
    false,
  ],
  [
    'bad_id',
    { kind: 'bad_parameter', name: 'agent_id', value: '..' },
    'get_agent',
    /not usable in a path/,
    /Correct it/,
    false,
  ],
  [
    'not_recorded',
    { kind: 'not_recorded', maybeSent: false },
    'update_agent',
    /cannot be recorded, so nothing was sent/,
    /the operator of this server wants every change recorded/,
    true,
  ],
  [
    'cancelled',
    { kind: 'cancelled', maybeSent: true },
    'place_call',
    /was cancelled/,
    /may have been done/,
    false,
  ],
  [
    'cancelled',
    { kind: 'cancelled', maybeSent: false },
    'place_call',
    /was cancelled/,
    /Nothing was sent/,
    true,
  ],
]

describe('the table of advice', () => {
  test.each(cases)('%s %j on %s', (row, failure, tool, what, next, retryable) => {
    const advice = adviseOn(failure, tool, row === 'sandbox_broken')
    expect(advice.advice).toBe(row)
    expect(advice.what).toMatch(what)
    expect(advice.next).toMatch(next)
    expect(advice.retryable).toBe(retryable)
  })

  test('has a case for each of its rows', () => {
    expect([...new Set(cases.map(([row]) => row))].sort()).toEqual(
      adviceRows.map(({ id }) => id).sort(),
    )
  })

  test('names each argument that the platform refused by the name the tool gives it', () => {
    const errors = [{ field: 'body.name', message: 'is too long', type: 'value_error' }]
    const { fields } = adviseOn(rejected(422, 'validation_error', { errors }), 'create_agent')
    expect(fields).toEqual([{ argument: 'name', message: 'is too long', type: 'value_error' }])
  })
})

test.each([
  rejected(403, 'forbidden'),
  rejected(403, 'forbidden', { message: 'The account is disabled.' }),
  rejected(404, 'not_found'),
  rejected(410, 'gone'),
])('advice after $status names no tool that the caller cannot call', (failure) => {
  const others = new RegExp(tools.map(({ name }) => name).join('|'))
  for (const tool of ['get_agent', 'create_phone_number', 'list_agents', 'delete_sip_trunk']) {
    const { next } = adviseOn(failure, tool, false, () => false)
    expect(next.replaceAll(tool, '')).not.toMatch(others)
    expect(next).toMatch(/\.$/)
  }
})
