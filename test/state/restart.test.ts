import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { scratchFolder, startHttpProgram, startProgram } from '../harness/program.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'
import { confirmedCalls } from './confirm-across-servers.ts'

const key = 'sk-0123456789'
const secrets = { old: 'o'.repeat(32), new: 'n'.repeat(32) }

type Platform = Awaited<ReturnType<typeof startRunningCallsPlatform>>
let platform: Platform
let calls: ReturnType<typeof confirmedCalls>
beforeAll(async () => {
  platform = await startRunningCallsPlatform()
  calls = confirmedCalls({ agentId: platform.agent.id, key })
})
afterAll(() => platform[Symbol.asyncDispose]())

const start = (stateDir: string, env: Record<string, string> = {}) =>
  startHttpProgram({
    VOICE_AGENT_BASE_URL: platform.url,
    VOICE_AGENT_CONFIRM: 'always',
    VOICE_AGENT_STATE_DIR: stateDir,
    ...env,
  })

describe('after a restart on the same state directory', () => {
  test('unused tokens and questions are still valid, and used ones are not', async () => {
    using folder = scratchFolder()
    const numbers = ['+493023125001', '+493023125002', '+493023125003', '+493023125004'] as const
    const before = await start(folder.path)
    const used = await calls.token(before.url, numbers[0])
    expect((await calls.withToken(before.url, numbers[0], used)).isError).toBeFalsy()
    const token = await calls.token(before.url, numbers[1])
    const answeredState = await calls.question(before.url, numbers[2])
    await calls.answered(before.url, numbers[2], answeredState)
    const state = await calls.question(before.url, numbers[3])
    await before[Symbol.asyncDispose]()
    const dialled = platform.dialled.length
    // Deletes the journal, so that only the used token can prevent a second call.
    for (const end of ['', '-wal', '-shm'])
      rmSync(join(folder.path, `calls.db${end}`), { force: true })

    await using after = await start(folder.path)
    const again = await calls.withToken(after.url, numbers[0], used)
    expect(again.structuredContent).toHaveProperty('confirmation.state', 'needed')
    const answeredAgain = await calls.answered(after.url, numbers[2], answeredState)
    expect(answeredAgain.error?.message).toMatch(/answered before/)
    expect(platform.dialled).toHaveLength(dialled)

    expect((await calls.withToken(after.url, numbers[1], token)).isError).toBeFalsy()
    expect((await calls.answered(after.url, numbers[3], state)).error).toBeUndefined()
    expect(platform.dialled.slice(dialled).map((call) => call.to_number)).toEqual([
      numbers[1],
      numbers[3],
    ])
    const file = join(folder.path, 'secret')
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(after.stderr()).not.toContain(readFileSync(file, 'utf8').trim())
  })

  test('with another secret they are invalid, and no secret is stored in the directory', async () => {
    using folder = scratchFolder()
    const before = await start(folder.path, { VOICE_AGENT_SECRET: secrets.old })
    const token = await calls.token(before.url, '+493023125011')
    const state = await calls.question(before.url, '+493023125012')
    await before[Symbol.asyncDispose]()
    const dialled = platform.dialled.length
    await using after = await start(folder.path, { VOICE_AGENT_SECRET: secrets.new })
    const again = await calls.withToken(after.url, '+493023125011', token)
    expect(again.structuredContent).toHaveProperty('confirmation.state', 'needed')
    expect((await calls.answered(after.url, '+493023125012', state)).error).toMatchObject({
      code: -32602,
    })
    expect(platform.dialled).toHaveLength(dialled)
    expect(statSync(join(folder.path, 'secret'), { throwIfNoEntry: false })).toBeUndefined()
  })

  test('with a file that has the new secret and the old one, both are accepted', async () => {
    using folder = scratchFolder()
    const file = join(folder.path, 'secrets')
    writeFileSync(file, `${secrets.new}\n${secrets.old}\n`)
    const before = await start(folder.path, { VOICE_AGENT_SECRET: secrets.old })
    const token = await calls.token(before.url, '+493023125021')
    await before[Symbol.asyncDispose]()
    await using after = await start(folder.path, { VOICE_AGENT_SECRET_FILE: file })
    expect((await calls.withToken(after.url, '+493023125021', token)).isError).toBeFalsy()
  })
})

test.each([
  ['is too short', { VOICE_AGENT_SECRET: 'short' }, /--secret .*\b32\b/],
  ['is blank', { VOICE_AGENT_SECRET: ' ' }, /--secret .* is empty/],
  ['is given twice', { VOICE_AGENT_SECRET: secrets.old, VOICE_AGENT_SECRET_FILE: 'x' }, /both set/],
  ['is in no file', { VOICE_AGENT_SECRET_FILE: '/nowhere' }, /--secret-file .* cannot be read/],
  ['holds only commas', { VOICE_AGENT_SECRET: ',,' }, /holds no secret/],
])('a secret that %s stops the start, and is not repeated', async (_, env, message) => {
  await using program = startProgram(['http', '--port', '0'], env)
  expect(await program.exited).toBe(1)
  expect(program.stderr()).toMatch(message)
  expect(program.stderr()).not.toContain(secrets.old)
})

test.skipIf(process.platform === 'win32')(
  'a secret file that other users can read is refused with a log message',
  async () => {
    using folder = scratchFolder()
    writeFileSync(join(folder.path, 'secret'), 's'.repeat(43), { mode: 0o644 })
    await using program = await start(folder.path)
    await expect(calls.token(program.url, '+493023125031')).rejects.toThrow(
      /Nothing was done.*state_unavailable/,
    )
    expect(program.stderr()).toMatch(/\/secret .*\bchmod 600\b/)
  },
)
