import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { headerNames } from '../../src/mcp/messages.ts'
import type { McpService } from '../../src/server/service.ts'
import { startHttp } from '../../src/server/transports/http.ts'
import type { Listening } from '../../src/server/transports/listen.ts'
import { anyRequest, type McpRequest } from '../harness/any-mcp-request.ts'
import { openHttpOptions, readyService } from '../harness/http-options.ts'
import { tries } from '../harness/property.ts'
import { createTestService, openSandbox } from './test-service.ts'

/*
 * Sends the same requests to two servers; the second has no fast path, so the SDK answers
 * everything. Their answers must not differ.
 */

const bugs: unknown[] = []
let sandbox: Awaited<ReturnType<typeof openSandbox>>
let withFastPath: Listening
let sdkOnly: Listening
/** Number of requests that the fast path answered. */
let fastAnswers = 0

beforeAll(async () => {
  sandbox = await openSandbox()
  const service = createTestService(sandbox.client, (error) => void bugs.push(error))
  const start = (httpFastPath: McpService['httpFastPath']) =>
    startHttp(
      { ...service, ...readyService, httpFastPath },
      { ...openHttpOptions, port: 0, onError: () => undefined },
    )
  withFastPath = await start((message, request) => {
    const answer = service.httpFastPath(message, request)
    if (answer) fastAnswers++
    return answer
  })
  sdkOnly = await start(() => undefined)
})
afterAll(async () => {
  await withFastPath.close()
  await sdkOnly.close()
  await sandbox.close()
})

/** Status, headers and body of an answer, as far as a client sees them. */
async function answerOf({ url }: Listening, { headers, body }: { headers: object; body: string }) {
  const response = await fetch(new URL('/mcp', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const text = await response.text()
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  const messages = isStream ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => data) : [text]
  return {
    status: response.status,
    headers: comparable(response.headers),
    messages: messages.map((message) => JSON.parse(withoutRandom(message || 'null'))),
  }
}

/**
 * Headers that differ between a JSON body and an event stream with one event. The request accepts
 * both.
 */
const ofEncoding = [
  'cache-control',
  'connection',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'x-accel-buffering',
]

const comparable = (headers: Headers) =>
  Object.fromEntries(
    [...headers]
      .filter(([name]) => !ofEncoding.includes(name))
      .map(([name, value]) => [name, name === headerNames.session ? 'a session' : value]),
  )

/** Replaces values that differ in each answer: confirmation tokens, expiry times, sealed states. */
const withoutRandom = (text: string) =>
  text
    .replaceAll(/[\w.-]{60,}/g, 'SEALED')
    .replaceAll(/"expires_at":"[^"]+"/g, '"expires_at":"LATER"')

/** Request bodies: messages as JSON, and a few invalid ones. */
const bodyOf = (message: unknown) =>
  fc
    .oneof(
      { weight: 30, arbitrary: fc.constant(JSON.stringify(message)) },
      { weight: 1, arbitrary: fc.constantFrom('', 'null', '"x"', '[]', '{"a":') },
      { weight: 1, arbitrary: fc.constant(JSON.stringify(message).slice(0, -1)) },
      { weight: 1, arbitrary: fc.constantFrom([message], [message, message], [message, 1]) },
    )
    .map((body) => (typeof body === 'string' ? body : JSON.stringify(body)))

const exchange = anyRequest.chain(({ headers, message }: McpRequest) =>
  bodyOf(message).map((body) => ({ headers, body })),
)

test('both paths give the same status, headers and body to thousands of requests', async () => {
  const statuses = new Map<number, number>()
  await fc.assert(
    fc.asyncProperty(exchange, async (request) => {
      const [fast, sdk] = await Promise.all([
        answerOf(withFastPath, request),
        answerOf(sdkOnly, request),
      ])
      expect(fast).toEqual(sdk)
      statuses.set(sdk.status, (statuses.get(sdk.status) ?? 0) + 1)
    }),
    tries(2000),
  )
  // The random requests covered both paths and all statuses.
  expect(fastAnswers).toBeGreaterThan(300)
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 202, 400]))
  expect(bugs).toEqual([])
}, 180_000)
