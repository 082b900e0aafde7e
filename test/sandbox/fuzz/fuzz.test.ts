import { expect, test } from 'vitest'
import * as z from 'zod'
import { withFaults } from '../../../src/sandbox/faults.ts'
import { sandboxKeys } from '../../../src/sandbox/seed.ts'
import { type Operation, operationsOf } from '../../harness/openapi.ts'
import { startSandbox } from '../../harness/sandbox.ts'
import { fuzz } from './fuzz.ts'

/*
 * Sends random requests derived from the sandbox's OpenAPI document, and checks the replies against
 * it. FUZZ_RUNS: number of sequences of 30 requests. FUZZ_SEED: seed of the generator.
 */

const runs = Number(process.env.FUZZ_RUNS ?? 100)
const seed = Number(process.env.FUZZ_SEED ?? 20_261_121)

async function served(): Promise<Operation[]> {
  using sandbox = startSandbox()
  return operationsOf((await sandbox.get('openapi.json')).body)
}
const operations = await served()

/** Documented success statuses of an operation. The greatest is the one for a created object. */
const successes = (responses: Operation['responses']) =>
  [...responses.keys()].filter((status) => status < 300)

test(
  `in ${runs} sequences of requests all is answered as documented`,
  async () => {
    const coverage = await fuzz(operations, { runs, seed })
    const counts = [...coverage.values()].flatMap((statuses) => [...statuses.values()])
    const requests = counts.reduce((sum, count) => sum + count, 0)
    expect(requests).toBeGreaterThanOrEqual(runs * 30)

    // Checks that the requests covered all statuses, and each operation's success.
    if (runs < 100) return
    const statuses = new Set([...coverage.values()].flatMap((counted) => [...counted.keys()]))
    expect([...statuses].sort()).toEqual([200, 201, 204, 400, 401, 403, 404, 405, 409, 422])
    for (const { id, responses } of operations) {
      const success = Math.max(...successes(responses))
      expect(coverage.get(id)?.get(success), `${id} ${success}`).toBeGreaterThan(0)
    }
  },
  runs * 1000,
)

type Break = (request: Request, response: Response) => Response | Promise<Response>

const envelope = (status: number, code: string, field?: string) =>
  Response.json(
    {
      code,
      message: 'x',
      detail: null,
      errors: field ? [{ field, message: 'x', type: 'value_error' }] : null,
    },
    { status },
  )
const isRead = ({ method }: Request, { status }: Response) => method === 'GET' && status === 200

const changed = async (response: Response, change: object) =>
  Response.json(
    Object.assign(z.record(z.string(), z.unknown()).parse(await response.json()), change),
  )

/** Faults of a sandbox, and the fuzzer's message for each. */
const breaks: Record<string, [Break, RegExp]> = {
  'a failure': [
    (request, response) =>
      request.url.includes('limit=1&') ? envelope(500, 'internal_error') : response,
    /^it failed/,
  ],
  'a status that is not documented': [
    (_, response) => (response.status === 201 ? envelope(409, 'conflict') : response),
    /^the status is not documented/,
  ],
  'a body off its schema': [
    async (request, response) =>
      isRead(request, response) && request.url.includes('/agents/')
        ? changed(response, { tags: 'support' })
        : response,
    /^off its schema: \/tags must be array/,
  ],
  'a body that is not declared as JSON': [
    async (_, response) => new Response(await response.text(), { status: response.status }),
    /^the content type is not JSON/,
  ],
  'an error code of another status': [
    (_, response) => (response.status === 404 ? envelope(404, 'conflict') : response),
    /^the error code is none of its status/,
  ],
  'a refusal of a valid request': [
    (_, response) =>
      response.status === 201 ? envelope(422, 'validation_error', 'body.name') : response,
    /^refused, though fine by the schema: body\.name/,
  ],
  'a refusal that names no field': [
    (_, response) => (response.status === 422 ? envelope(422, 'validation_error') : response),
    /^no field is named/,
  ],
  'a refusal that names another field': [
    (_, response) =>
      response.status === 422 ? envelope(422, 'validation_error', 'body.other') : response,
    /^refused, though fine by the schema: body\.other/,
  ],
  'wrong fields that are accepted': [
    (request, response) =>
      response.status === 422 && /subaccounts(\?|$)/.test(request.url) && request.method === 'GET'
        ? Response.json({ count: 0, items: [] })
        : response,
    /^it was accepted with wrong fields: query\.(limit|offset)/,
  ],
  'a change that is not stored': [
    async (request, response) =>
      isRead(request, response) && request.url.includes('/sip-trunks/')
        ? changed(response, { name: 'another' })
        : response,
    /^what is stored is another/,
  ],
}

test.each(Object.entries(breaks))('the fuzzer finds %s', async (_, [breaking, message]) => {
  const through = (fetch: (request: Request) => Promise<Response>) => async (request: Request) =>
    breaking(request, await fetch(request))
  await expect(fuzz(operations, { runs: 100, seed, through })).rejects.toThrow(message)
})

test('the fuzzer finds a key that is not checked', async () => {
  const through = (fetch: (request: Request) => Promise<Response>) => (request: Request) => {
    request.headers.set('x-api-key', sandboxKeys.main)
    return fetch(request)
  }
  const found = fuzz(operations, { runs: 100, seed, through })
  await expect(found).rejects.toThrow(/^the status is wrong for the key/)
  await expect(found).rejects.toThrow(`FUZZ_SEED=${seed}`)
})

test('every example of a request works as it stands in a new sandbox', async () => {
  for (const { id, method, path, parameters, body, responses } of operations) {
    const example = new Map(parameters.map(({ name, example }) => [name, String(example)]))
    const url = path
      .slice('/v1/'.length)
      .replace(/\{(\w+)\}/g, (_, name) => example.get(name) ?? '')
    const query = parameters.filter(({ required, in: where }) => required && where === 'query')
    const search = new URLSearchParams()
    for (const { name } of query) search.append(name, example.get(name) ?? '')
    for (const { value } of body ? Object.values(body.examples) : [{ value: undefined }]) {
      using sandbox = startSandbox()
      const { status } = await sandbox.send(method, `${url}?${search}`, value)
      // A new sandbox has one trunk, which is in use.
      const expected = id === 'sip_trunks_delete' ? 409 : Math.max(...successes(responses))
      expect(status, id).toBe(expected)
    }
  }
})

test('a 429 that a fault causes is as documented', async () => {
  const reply = { kind: 'error', status: 429, code: 'rate_limit_exceeded', retry_after: 7 } as const
  const fetch = withFaults(async () => new Response(), { rules: [{ reply }] })
  const response = await fetch(new Request('http://x/v1/accounts/current'))
  const documented = operations[0]?.responses.get(response.status)
  expect(documented?.body?.validate(await response.json())).toBe(true)
  expect(documented?.headers).toHaveProperty('Retry-After')
  expect(Number(response.headers.get('retry-after'))).toBe(7)
})
