import { describe, expect, test } from 'vitest'
import {
  ApiError,
  type Failure,
  type Rejected,
  type Unreadable,
} from '../../src/platform/failure.ts'
import { adviceFor, adviceRows } from '../../src/tool/api-error-advice.ts'
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
    accountId: 'a-1',
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

/** Id of the advice for a tool's failure, and whether the error is retryable. */
const cases: [row: string, failure: Failure, tool: string, retryable: boolean][] = [
  ['key_refused', rejected(401, 'unauthorized'), 'list_agents', false],
  ['key_refused', unreadable(401, { reason: 'html' }), 'list_agents', false],
  ['no_access', rejected(403, 'forbidden'), 'list_agents', false],
  [
    'no_access',
    rejected(403, 'forbidden', { message: 'The account is disabled.' }),
    'place_call',
    false,
  ],
  ['payment_required', rejected(402, 'payment_required'), 'place_call', false],
  ['not_offered', rejected(405, 'method_not_allowed'), 'archive_agent', false],
  ['gone', rejected(410, 'gone'), 'get_agent', false],
  ['gone', unreadable(410, {}), 'list_models', false],
  ['not_found', rejected(404, 'not_found'), 'get_agent', false],
  ['not_found', rejected(404, 'not_found'), 'list_agents', false],
  ['bad_request', rejected(400, 'bad_request'), 'create_agent', false],
  ['conflict', rejected(409, 'conflict', { detail: 'It has numbers.' }), 'delete_sip_trunk', false],
  ['invalid', rejected(422, 'validation_error'), 'create_agent', false],
  ['rate_limited', rejected(429, 'rate_limit_exceeded', { retryAfter: 7 }), 'place_call', true],
  ['rate_limited', unreadable(429, {}), 'list_agents', true],
  ['unavailable', rejected(503, 'unavailable'), 'list_agents', true],
  ['unavailable', unreadable(502, { reason: 'html', retryAfter: 9 }), 'list_agents', true],
  ['unavailable', unreadable(504, {}), 'place_call', false],
  ['platform_error', rejected(500, 'internal_error'), 'update_agent', true],
  ['platform_error', rejected(500, 'internal_error'), 'create_agent', false],
  ['sandbox_broken', rejected(500, 'internal_error'), 'list_agents', false],
  ['refused', rejected(418, 'i_am_new'), 'list_agents', false],
  ['too_large', unreadable(200, { reason: 'too_large' }), 'list_agents', true],
  [
    'odd_shape',
    unreadable(200, { reason: 'unexpected_shape', excerpt: '{"a":1}' }),
    'get_agent',
    true,
  ],
  [
    'odd_shape',
    unreadable(201, { reason: 'unexpected_shape', excerpt: '{}' }),
    'place_call',
    false,
  ],
  ['unreadable', unreadable(200, { reason: 'cut_off', excerpt: '{"a' }), 'get_agent', true],
  ['unreadable', unreadable(200, { reason: 'not_json', excerpt: 'OK' }), 'list_agents', true],
  ['certificate', network('DEPTH_ZERO_SELF_SIGNED_CERT', false), 'list_agents', false],
  ['certificate', network('UNABLE_TO_VERIFY_LEAF_SIGNATURE', false), 'place_call', false],
  ['proxy_refused', network('PROXY_407', false), 'place_call', true],
  ['unknown_host', network('ENOTFOUND', false), 'place_call', true],
  ['unreachable', network('ECONNREFUSED', false), 'place_call', true],
  ['unreachable', network('ECONNRESET'), 'place_call', false],
  [
    'timeout',
    { kind: 'timeout', waitingFor: 'headers', afterMs: 30_012, maybeSent: true },
    'list_agents',
    true,
  ],
  [
    'timeout',
    { kind: 'timeout', waitingFor: 'body', afterMs: 310, maybeSent: true },
    'place_call',
    false,
  ],
  [
    'redirected',
    { kind: 'redirected', status: 302, reason: 'elsewhere', origin: 'https://e.example' },
    'list_agents',
    true,
  ],
  [
    'redirected',
    { kind: 'redirected', status: 303, reason: 'not_repeatable', origin: '' },
    'place_call',
    false,
  ],
  ['bad_id', { kind: 'bad_parameter', name: 'agent_id', value: '..' }, 'get_agent', false],
  ['not_recorded', { kind: 'not_recorded', maybeSent: false }, 'update_agent', true],
  ['cancelled', { kind: 'cancelled', maybeSent: true }, 'place_call', false],
  ['cancelled', { kind: 'cancelled', maybeSent: false }, 'place_call', true],
]

describe('the table of advice', () => {
  test.each(cases)('%s %j on %s', (row, failure, tool, retryable) => {
    const advice = adviseOn(failure, tool, row === 'sandbox_broken')
    expect(advice).toMatchObject({ advice: row, retryable })
  })

  test('says what happened and what to do', async () => {
    const texts = cases.map(([row, failure, tool]) => {
      const { what, next } = adviseOn(failure, tool, row === 'sandbox_broken')
      return `${row}, ${tool}\n  ${what}\n  Next: ${next}\n`
    })
    await expect(texts.join('')).toMatchFileSnapshot('snapshots/advice.txt')
  })

  test('has a case for each of its rows', () => {
    expect([...new Set(cases.map(([row]) => row))].sort()).toEqual(
      adviceRows.map(({ id }) => id).sort(),
    )
  })

  test("names each refused argument by the tool's name for it", () => {
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
])('advice after $status names only exposed tools', (failure) => {
  const others = new RegExp(tools.map(({ name }) => name).join('|'))
  for (const tool of ['get_agent', 'create_phone_number', 'list_agents', 'delete_sip_trunk']) {
    const { next } = adviseOn(failure, tool, false, () => false)
    expect(next.replaceAll(tool, '')).not.toMatch(others)
    expect(next).toMatch(/\.$/)
  }
})
