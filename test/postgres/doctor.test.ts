import { afterAll, beforeAll, expect, test } from 'vitest'
import { examine } from '../harness/doctor.ts'
import { type PostgresServer, startPostgres } from '../harness/postgres-server.ts'
import { startHttpProgram } from '../harness/program.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
}, 60_000)
afterAll(() => server[Symbol.asyncDispose]())

const settings = (url: string) => ({
  VOICE_AGENT_SANDBOX_DB: ':memory:',
  VOICE_AGENT_STATE_URL: url,
  VOICE_AGENT_SECRET: 's'.repeat(32),
})

test('doctor inspects the database without changing it', async () => {
  const url = await server.newDatabase()
  const tables = /\bversion \d+/
  for (let nth = 0; nth < 2; nth++) {
    const { red, check } = await examine(settings(url))
    expect(red).toEqual([])
    expect(check('state').text).toMatch(/^PostgreSQL \d+/)
    expect(check('state').text).not.toMatch(tables)
  }
  {
    await using program = await startHttpProgram(settings(url))
    expect(program.url).toMatch(/^http/)
  }
  const { check } = await examine(settings(url))
  expect(check('state').text).toMatch(/^PostgreSQL \d+/)
  expect(check('state').text).toMatch(tables)
})

test.each([
  ['pathname', '/nowhere', /database "nowhere" does not exist/],
  ['password', 'sesame-4711', /password authentication failed/],
] as const)('a wrong %s is red, without the password', async (part, value, message) => {
  const address = new URL(await server.newDatabase())
  const { password } = address
  address[part] = value
  const { red, check, output } = await examine(settings(address.href))
  expect(red).toEqual(['state'])
  expect(check('state').text).toMatch(message)
  expect(output).not.toContain('sesame')
  expect(output).not.toContain(`:${password}@`)
})
