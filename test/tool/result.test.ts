import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import * as z from 'zod'
import { successResult } from '../../src/tool/result.ts'
import type { ToolOutput } from '../../src/tool/tool.ts'
import { connectStdio, type TestClient } from '../harness/client.ts'
import {
  type Behaviour,
  envelope,
  type FakePlatform,
  json,
  startFakePlatform,
} from '../harness/fake-platform.ts'

const apiKey = 'sk-very-secret-0123456789'

let platform: FakePlatform
let client: TestClient
beforeAll(async () => {
  platform = await startFakePlatform((_, res) => json(res, 200, {}), { account: 'own' })
  client = await connectStdio('v2 2026-07-28', {
    env: {
      VOICE_AGENT_API_KEY: apiKey,
      VOICE_AGENT_BASE_URL: platform.url,
      VOICE_AGENT_HEADERS_TIMEOUT: '1',
      VOICE_AGENT_TIMEOUT: '2',
      VOICE_AGENT_CALL_FIND_OUT: '0.3',
    },
  })
  // Warm-up: the first request takes longer than the short time limits of these tests.
  await client.call('list_agents')
})
afterAll(async () => {
  await client[Symbol.asyncDispose]()
  await platform[Symbol.asyncDispose]()
})

async function failure(behaviour: Behaviour, name: string, args: Record<string, unknown> = {}) {
  platform.behave(behaviour)
  const result = await client.call(name, args)
  expect(result.isError).toBe(true)
  expect(result.structuredContent).toBeUndefined()
  expect(JSON.stringify(result)).not.toContain(apiKey)
  expect(JSON.stringify(result)).not.toMatch(/\bat .*\.(js|ts):\d+/)
  const meta = result._meta?.['voice-agent-mcp/error'] as Record<string, unknown>
  return { text: result.content[0]?.text ?? '', meta }
}

const refuse =
  (status: number, code: string, more: object = {}, headers = {}): Behaviour =>
  (_, res) =>
    json(res, status, envelope(code, `The platform says ${code}.`, more), headers)

test('a Retry-After of more than a day is not passed on', async () => {
  for (const wait of ['86401', '999999999', 'Fri, 31 Dec 9999 23:59:59 GMT']) {
    const limited = refuse(429, 'rate_limit_exceeded', {}, { 'retry-after': wait })
    const { text, meta } = await failure(limited, 'update_subaccount', {
      subaccount_id: someId,
      name: 'n',
    })
    expect(text).not.toMatch(/\d{4,} s/)
    expect(meta).toMatchObject({ advice: 'rate_limited', retryAfter: null })
  }
  const daily = refuse(429, 'rate_limit_exceeded', {}, { 'retry-after': '86400' })
  const { text } = await failure(daily, 'update_subaccount', { subaccount_id: someId, name: 'n' })
  expect(text).toContain('86400 s')
})

test('only as many refused fields are read as are shown', async () => {
  const errors = Array.from({ length: 70_000 }, () => ({
    field: 'body.name',
    message: 'wrong',
    type: 'x',
  }))
  const began = process.threadCpuUsage()
  const { text } = await failure(refuse(422, 'validation_error', { errors }), 'update_subaccount', {
    subaccount_id: someId,
    name: 'n',
  })
  expect(process.threadCpuUsage(began).user).toBeLessThan(1_500_000)
  expect(text.match(/- name: wrong/g)).toHaveLength(20)
  expect(text).toMatch(/- and more/)
  // The same body with a success status.
  const again = process.threadCpuUsage()
  const odd = await failure(refuse(200, 'validation_error', { errors }), 'get_call', {
    call_id: 'c',
  })
  expect(process.threadCpuUsage(again).user).toBeLessThan(1_500_000)
  expect(odd.meta).toMatchObject({ kind: 'unreadable' })
})

const someId = '3f0c7b1e-0d5a-4c56-9d0e-6a1f0e4b7c11'

/** A platform with the agent and empty lists, on which only placing a call has this behaviour. */
const whenPlaced =
  (behaviour: Behaviour): Behaviour =>
  (request, response, before) => {
    if (request.method === 'POST') return behaviour(request, response, before)
    json(response, 200, request.url.includes('/agents/') ? { id: someId } : { count: 0, items: [] })
  }

const place = {
  type: 'phone',
  agent_id: someId,
  from_number: '+4930123456',
  to_number: '+4930123457',
}

/** Behaviour of the platform, and the expected text and data of the result. */
const rows: [
  title: string,
  Behaviour,
  tool: string,
  args: Record<string, unknown>,
  expected: (RegExp | object)[],
][] = [
  [
    '400',
    refuse(400, 'bad_request'),
    'list_agents',
    {},
    [/HTTP 400, bad_request/, /says bad_request/, /call list_agents again/],
  ],
  [
    '401',
    refuse(401, 'unauthorized'),
    'list_agents',
    {},
    [/VOICE_AGENT_API_KEY/, { advice: 'key_refused', retryable: false }],
  ],
  [
    '403',
    refuse(403, 'forbidden'),
    'list_agents',
    { account_id: 'x' },
    [/account x/, /list_subaccounts/],
  ],
  ['404 of a thing', refuse(404, 'not_found'), 'get_agent', { agent_id: someId }, [/list_agents/]],
  ['404 of a list', refuse(404, 'not_found'), 'list_agents', { account_id: 'x' }, [/account_id/]],
  [
    '409',
    refuse(409, 'conflict', { detail: 'It has numbers.' }),
    'delete_sip_trunk',
    { sip_trunk_id: 'x' },
    [/It has numbers\./, /Resolve/],
  ],
  [
    '429',
    refuse(429, 'rate_limit_exceeded', {}, { 'retry-after': '77' }),
    'list_agents',
    {},
    [/Wait 77 s/],
  ],
  [
    '500',
    refuse(500, 'internal_error', {}, { 'x-request-id': 'req-9' }),
    'list_agents',
    {},
    [/Request id: req-9/],
  ],
  [
    '503 after a call was sent',
    whenPlaced(refuse(503, 'unavailable')),
    'place_call',
    place,
    [/NOT KNOWN .*\bHTTP 503 unavailable: The platform says unavailable\b/, /external_id auto-/],
  ],
  [
    'an unknown status and code',
    refuse(418, 'i_am_new'),
    'list_agents',
    {},
    [/HTTP 418, i_am_new/],
  ],
  [
    'HTML from a proxy',
    (_, res) => res.writeHead(502).end('<html>Bad gateway'),
    'create_subaccount',
    { name: 'x' },
    [/HTML page/, /proxy/, /list_subaccounts/],
  ],
  [
    'an empty error',
    (_, res) => res.writeHead(503).end(),
    'list_agents',
    {},
    [/HTTP 503/, /empty reply/],
  ],
  [
    'an empty success',
    (_, res) => res.writeHead(201).end(),
    'create_subaccount',
    { name: 'x' },
    [/it was done/, /Look with list_subaccounts before/],
  ],
  [
    'half a reply',
    (_, res) => res.writeHead(200).end('{"id":'),
    'get_agent',
    { agent_id: someId },
    [/was cut off/],
  ],
  [
    'an undocumented shape',
    (_, res) => json(res, 200, { nope: 1 }),
    'get_agent',
    { agent_id: someId },
    [/undocumented shape/, /id/],
  ],
  [
    'silence',
    () => {},
    'list_agents',
    {},
    [/\b1(\.\d)? s\b/, { advice: 'timeout', retryable: true }],
  ],
  [
    'silence after a call was placed',
    whenPlaced(() => {}),
    'place_call',
    { ...place, external_id: 'mine-1' },
    [/NOT KNOWN .*\bin time\b/, /list_calls, external_id mine-1/, { kind: 'unknown_outcome' }],
  ],
  [
    'a dropped connection after a call was placed',
    whenPlaced((_, res) => res.destroy()),
    'place_call',
    { ...place, to_number: '+4930123458' },
    [/NOT KNOWN .*\bconnection\b/, /list_calls/, { kind: 'unknown_outcome' }],
  ],
  [
    'a dropped connection while reading',
    (_, res) => res.destroy(),
    'list_agents',
    {},
    [{ advice: 'unreachable', maybeSent: true, retryable: true }],
  ],
  [
    'a redirect elsewhere',
    (_, res) => res.writeHead(302, { location: 'https://elsewhere.example/' }).end(),
    'list_agents',
    {},
    [/elsewhere\.example/, { advice: 'redirected', reason: 'elsewhere' }],
  ],
]

describe('the result shows the assistant', () => {
  test.each(rows)('%s', async (_, behaviour, tool, args, expected) => {
    const { text, meta } = await failure(behaviour, tool, args)
    expect(text).toMatch(new RegExp(`^${tool} failed: `))
    expect(text).toMatch(/\nNext: \S/)
    for (const one of expected) {
      if (one instanceof RegExp) expect(text).toMatch(one)
      else expect(meta).toMatchObject(one)
    }
  })

  test("which argument the platform refused, by the tool's name for it", async () => {
    const errors = [
      { field: 'body.voice.settings.speed', message: 'too fast', type: 'value_error' },
      { field: 'path.agent_id', message: 'odd', type: 'type_error' },
    ]
    const { text, meta } = await failure(
      refuse(422, 'validation_error', { errors }, { 'x-request-id': 'r-2' }),
      'update_agent',
      { agent_id: someId, voice: { settings: { speed: 9 } } },
    )
    expect(text).toContain('\n- voice.settings.speed: too fast')
    expect(text).toContain('\n- agent_id: odd')
    expect(meta).toMatchObject({
      kind: 'rejected',
      status: 422,
      code: 'validation_error',
      requestId: 'r-2',
      retryable: false,
      fields: [
        { argument: 'voice.settings.speed', message: 'too fast', type: 'value_error' },
        { argument: 'agent_id', message: 'odd', type: 'type_error' },
      ],
    })
  })

  test('nothing of the key, even if the platform repeats it', async () => {
    const { text } = await failure(
      (_, res) => json(res, 401, envelope('unauthorized', `Key ${apiKey} is wrong`)),
      'list_agents',
    )
    expect(text).toContain('Key [API key] is wrong')
    await failure((_, res) => res.writeHead(500).end(`<html>${apiKey}`), 'list_agents')
  })

  test('all of a reply in an undocumented shape', async () => {
    const odd = { items: [{ id: 7, name: 'Odd' }], count: 'many', padding: 'x'.repeat(5000) }
    const { text } = await failure((_, res) => json(res, 200, odd), 'list_agents')
    expect(text).toContain(JSON.stringify(odd))
  })

  test('nothing of a key that a long page cuts in two', async () => {
    const page = `<html>${'x'.repeat(300 - 6 - 10)}${apiKey}`
    const { text } = await failure((_, res) => res.writeHead(500).end(page), 'list_agents')
    expect(text).not.toContain(apiKey.slice(0, 6))
  })

  test('that a call must not be repeated blindly, as data too', async () => {
    const { meta } = await failure(
      whenPlaced(() => {}),
      'place_call',
      { ...place, to_number: '+4930123459' },
    )
    expect(meta).toMatchObject({ kind: 'unknown_outcome', retryable: false })
  })
})

test('a placed call whose answer is lost was sent exactly once', async () => {
  const before = platform.seen.length
  await failure(
    whenPlaced((_, res) => res.destroy()),
    'place_call',
    { ...place, to_number: '+4930123460' },
  )
  const posts = platform.seen.slice(before).filter(({ method }) => method === 'POST')
  expect(posts).toHaveLength(1)
})

const resultWith = (note: string | undefined, output: ToolOutput) =>
  successResult({ ownOutput: () => z.looseObject({}), shortening: undefined }, output, {
    ...{ request: { params: {}, query: {} }, account: undefined, ignoredNulls: [], note },
  })

test('a note follows the other notes in the data, and is a line of a text that has lines', () => {
  const structured = { note: 'One.', items: ['a'] }
  expect(resultWith('Two.', { structured })).toEqual({
    structuredContent: { note: 'One. Two.', items: ['a'] },
    content: [{ type: 'text', text: '{"note":"One. Two.","items":["a"]}' }],
  })
  expect(resultWith('Two.', { structured, lines: ['a line'] })).toEqual({
    structuredContent: { note: 'One. Two.', items: ['a'] },
    content: [{ type: 'text', text: 'a line\nTwo.' }],
  })
  expect(resultWith(undefined, { structured, lines: ['a line'] }).content).toEqual([
    { type: 'text', text: 'a line' },
  ])
})
