import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { registeredKeyClient } from '../harness/oauth-key-client.ts'
import { type OauthServer, startOauthServer } from '../harness/oauth-server.ts'

let server: OauthServer
beforeAll(async () => {
  server = await startOauthServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
  expect(server.errors).toEqual([])
})

const minute = 60
const now = () => Math.floor(Date.now() / 1000)
const year2100 = Date.UTC(2100) / 1000

/** Error after successful authentication, because the authorization code is invalid. */
const proved = { error: 'invalid_grant' }
const notProved = { status: 401, error: 'invalid_client' }

describe('an assertion of a client', () => {
  test.each([
    ['is accepted before exp', { exp: 4 * minute }, proved],
    ['is refused after exp', { exp: -minute, iat: -2 * minute }, notProved],
    [
      'is accepted within five minutes of iat, with exp in 2100',
      { exp: year2100, iat: -4 * minute },
      proved,
    ],
    ['is refused after them, with exp in 2100', { exp: year2100, iat: -6 * minute }, notProved],
    ['is refused without iat, with exp in 2100', { exp: year2100 }, notProved],
    ['is refused without iat, with exp in seven minutes', { exp: 7 * minute }, notProved],
    ['is refused with iat in the future', { exp: year2100, iat: 7 * minute }, notProved],
  ])('%s', async (_, { exp, iat }: { exp: number; iat?: number }, answer) => {
    const client = await registeredKeyClient(server.url)
    const claims = {
      exp: exp === year2100 ? exp : now() + exp,
      ...(iat !== undefined && { iat: now() + iat }),
    }
    expect(await client.send(client.assertion(claims))).toMatchObject(answer)
  })

  test('is good once', async () => {
    const client = await registeredKeyClient(server.url)
    const text = client.assertion({ exp: now() + minute })
    const answers = await Promise.all([client.send(text), client.send(text)])
    expect(answers.map(({ error }) => error).sort()).toEqual(['invalid_client', 'invalid_grant'])
  })

  test('is refused with 429 after 300 in a minute of this client, and not used', async () => {
    const [greedy, other] = await Promise.all([
      registeredKeyClient(server.url),
      registeredKeyClient(server.url),
    ])
    const sendNext = () => greedy.send(greedy.assertion({ exp: now() + 4 * minute }))
    const answers = await Promise.all(Array.from({ length: 300 }, sendNext))
    expect(new Set(answers.map(({ error }) => error))).toEqual(new Set(['invalid_grant']))
    // The rate limit recovers while requests are sent, so the count until a refusal varies.
    let text = ''
    let refused: Awaited<ReturnType<typeof greedy.send>> | undefined
    for (let sent = 0; sent < 300 && refused?.status !== 429; sent++) {
      text = greedy.assertion({ exp: now() + 4 * minute })
      refused = await greedy.send(text)
    }
    expect(refused?.error).toBe('temporarily_unavailable')
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    await expect.poll(() => greedy.send(text)).toMatchObject(proved)
    expect(await other.send(other.assertion({ exp: now() + minute }))).toMatchObject(proved)
  })
})
