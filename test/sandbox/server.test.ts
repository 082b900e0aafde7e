import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startPlatformProgram } from '../harness/program.ts'
import { exchange as exchangeWith } from '../harness/raw-http.ts'

/** The REST server of the built program, tested with raw HTTP. */
let program: Awaited<ReturnType<typeof startPlatformProgram>>

beforeAll(async () => {
  program = await startPlatformProgram({ VOICE_AGENT_ALLOWED_HOSTS: 'sandbox.example' })
})
afterAll(async () => {
  await program[Symbol.asyncDispose]()
})

const exchange = (bytes: string) => exchangeWith(program.url, bytes)

const head = (host: string, key: string, more: string) =>
  `POST /v1/accounts/me/subaccounts HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n${more}\r\n\r\n`

describe('the REST server of the sandbox', () => {
  test.each(['evil.example', 'localhost.evil.example:8080'])(
    'refuses the Host "%s"',
    async (host) => {
      const reply = await exchange(
        head(host, 'sandbox-key', 'Content-Length: 0\r\nConnection: close'),
      )
      expect(reply).toMatch(/^HTTP\/1.1 403 [\s\S]*"code":"forbidden"/)
    },
  )

  test.each(['localhost:8080', '127.0.0.1', '[::1]:1', 'sandbox.example'])(
    'answers to the Host %s',
    async (host) => {
      const reply = await exchange(
        head(host, 'sandbox-key', 'Content-Length: 0\r\nConnection: close'),
      )
      expect(reply).toMatch(/^HTTP\/1.1 422 /)
    },
  )

  test('refuses a wrong key before the body arrives', async () => {
    const reply = await exchange(head('localhost', 'wrong', 'Content-Length: 200000000'))
    expect(reply).toMatch(/^HTTP\/1.1 401 [\s\S]*"code":"unauthorized"/)
  })

  test('refuses a body that is too long, by its declared or by its actual length', async () => {
    const declared = await exchange(head('localhost', 'sandbox-key', 'Content-Length: 200000000'))
    expect(declared).toMatch(/^HTTP\/1.1 413 [\s\S]*"code":"payload_too_large"/)
    const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
    const chunked = head('localhost', 'sandbox-key', 'Transfer-Encoding: chunked')
    expect(await exchange(chunked + chunk.repeat(17))).toMatch(/^HTTP\/1.1 413 /)
  })
})

describe('a body with too many values or levels', () => {
  const post = async (body: string) => {
    const response = await fetch(`${program.url}/v1/accounts/me/agents`, {
      method: 'POST',
      headers: { 'x-api-key': 'sandbox-key', 'content-type': 'application/json' },
      body,
    })
    return [response.status, ((await response.json()) as { message: string }).message]
  }

  test.each([
    ['lists', '['.repeat(500_000), /nested too deeply/],
    [
      'objects',
      `{"metadata":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`,
      /nested too deeply/,
    ],
    ['items', `{"tags":[${'1,'.repeat(200_000)}1]}`, /more than 100000 values/],
  ])('of %s is a bad request', async (_, body, message) => {
    expect(await post(body)).toEqual([400, expect.stringMatching(message)])
  })

  test('with many invalid items reports some of the errors', async () => {
    expect(await post(`{"tags":[${'1,'.repeat(90_000)}1]}`)).toEqual([422, expect.any(String)])
  })
})
