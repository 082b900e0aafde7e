import { sessionOf } from '../../test/harness/session.ts'
import { tools } from '../../tools/index.ts'
import { ApiError, type Failure, type Rejected, type Unreadable } from '../platform/failure.ts'
import { adviceFor, adviceRows } from '../tool/api-error-advice.ts'
import type { RefusalKind } from '../tool/refused.ts'
import { code, table } from './markdown.ts'

/** Every kind of error with its meaning. The compiler keeps the list complete. */
const kinds: Readonly<Record<Failure['kind'] | RefusalKind | 'internal', string>> = {
  rejected: 'The platform answered with an error in its documented form.',
  unreadable: 'The platform answered, but not with the documented JSON.',
  network: 'The platform could not be reached, or the connection broke.',
  timeout: 'No reply came in time (`--headers-timeout`, `--timeout`).',
  redirected: 'The platform redirected in a way that is not followed.',
  bad_parameter: 'An id is not valid in a path. Nothing was sent.',
  cancelled: 'The client cancelled the tool call.',
  not_exposed:
    'No exposed tool reads this data, so the server did not read it. This kind occurs only in texts of hints, prompts and resources; a call of a tool that is not exposed is a [protocol error](#protocol-errors).',
  not_recorded:
    'The audit trail cannot be written, and `--audit-failure refuse` forbids changes without it. Nothing was sent.',
  all_failed: 'All items of a bulk operation failed. The fields have the reason for each.',
  bad_arguments: 'The arguments are not valid. Nothing was changed.',
  conflict:
    'The agent was changed since `expected_modified`, a SIP trunk to delete has numbers, or a view asks about an action that waits for no answer. Nothing was changed.',
  needs_person: 'A person must confirm, and the client cannot ask one (`--confirm person`).',
  not_allowed:
    'The dial policy does not allow the phone call, or too many actions were confirmed within a few minutes. Nothing was done.',
  not_taken: 'The platform lists the phone call as not accepted.',
  state_unavailable:
    'The state (journal of calls, limits, confirmations) is slow or unreachable, and without it nobody is called. Nothing was done. `retryAfter` has the seconds to wait; null if the state needs repair.',
  unknown_outcome:
    'It is not known whether the phone call was placed, the copy created, or any item of a bulk operation changed.',
  internal: 'A defect of this server, not of the network or the platform.',
}

export const kindTable = (): string =>
  table(
    ['`kind`', 'Meaning'],
    Object.entries(kinds).map(([kind, meaning]) => [code(kind), meaning]),
  )

const reply = { detail: null, requestId: null, retryAfter: null }

const rejected = (status: number, rest: Partial<Rejected> = {}): Rejected => ({
  ...reply,
  kind: 'rejected',
  status,
  code: '',
  message: '',
  errors: [],
  ...rest,
})

const unreadable = (reason: Unreadable['reason']): Unreadable => ({
  ...reply,
  kind: 'unreadable',
  status: 200,
  reason,
  excerpt: '',
})

const network = (failureCode: string): Failure => ({
  kind: 'network',
  code: failureCode,
  maybeSent: true,
})

/** A failure for each row of the advice table. `when`: the row's condition in words. */
const examples: readonly { when: string; failure: Failure; isSandbox?: boolean }[] = [
  { when: 'HTTP 401', failure: rejected(401) },
  { when: 'HTTP 403', failure: rejected(403) },
  { when: 'HTTP 402', failure: rejected(402) },
  { when: 'HTTP 405', failure: rejected(405) },
  { when: 'HTTP 410', failure: rejected(410) },
  { when: 'HTTP 404', failure: rejected(404) },
  { when: 'HTTP 400', failure: rejected(400) },
  { when: 'HTTP 409', failure: rejected(409) },
  { when: 'HTTP 422', failure: rejected(422) },
  { when: 'HTTP 429', failure: rejected(429, { retryAfter: 7 }) },
  { when: 'HTTP 5xx from the sandbox', failure: rejected(500), isSandbox: true },
  { when: 'HTTP 502, 503, 504', failure: rejected(503) },
  { when: 'any other HTTP 5xx', failure: rejected(500) },
  { when: 'any other status', failure: rejected(418) },
  { when: 'a reply over 10 MiB or 300,000 values', failure: unreadable('too_large') },
  { when: 'JSON that is not as documented', failure: unreadable('unexpected_shape') },
  { when: 'a successful reply without JSON', failure: unreadable('html') },
  { when: 'a certificate that is not trusted', failure: network('CERT_HAS_EXPIRED') },
  { when: 'a proxy that refuses', failure: network('PROXY_407') },
  { when: 'a host name that is not found', failure: network('ENOTFOUND') },
  { when: 'any other failure of the network', failure: network('ECONNREFUSED') },
  {
    when: 'no reply in time',
    failure: { kind: 'timeout', waitingFor: 'headers', afterMs: 10_000, maybeSent: true },
  },
  {
    when: 'a redirect that is not followed',
    failure: { kind: 'redirected', status: 302, reason: 'nowhere', origin: '' },
  },
  {
    when: 'an id that is empty, `.` or `..`',
    failure: { kind: 'bad_parameter', name: 'agent_id', value: '..' },
  },
  {
    when: 'the audit trail cannot be written (`--audit-failure refuse`)',
    failure: { kind: 'not_recorded', maybeSent: false },
  },
  { when: 'the client cancelled', failure: { kind: 'cancelled', maybeSent: true } },
]

const again = { yes: 'yes', no: 'no', 'if harmless': 'reads and repeatable changes' }

const client = { call: () => Promise.reject(new Error('Documentation calls nothing.')) }

/** All rows of the advice table, with the advice after a failed `get_agent`. */
export function adviceTable(): string {
  const tool = tools.find(({ name }) => name === 'get_agent')
  if (!tool) throw new Error('There is no tool get_agent')
  const found = examples.map(({ when, failure, isSandbox = false }) => {
    const error = new ApiError(failure, { ...tool.route, attempts: 1 })
    const session = sessionOf(client, { isSandbox, keySource: 'VOICE_AGENT_API_KEY' })
    const { advice, next } = adviceFor(error, {
      tool,
      session,
      accountId: 'me',
      check: undefined,
      isExposed: () => true,
      hints: {},
    })
    return { advice, when, next }
  })
  return table(
    ['`advice`', 'When', 'Next (here for `get_agent`)', '`retryable`'],
    adviceRows.map(({ id, again: when }) => {
      const example = found.find(({ advice }) => advice === id)
      if (!example) throw new Error(`src/dev/docs-errors.ts has no example for the advice ${id}`)
      return [code(id), example.when, example.next, again[when]]
    }),
  )
}
