import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectStdio } from '../harness/client.ts'
import { freePort, scratchFolder, startProgram } from '../harness/program.ts'
import { startRunningCallsPlatform } from '../harness/running-calls-platform.ts'
import { seedIds } from '../harness/sandbox.ts'

const from_number = '+12025550110'
const to_number = '+12025550130'
const kind = 'v2 2026-07-28'

type Env = Record<string, string>

/** Places a call, alone and as a list of one, in a new process with settings `env`. */
async function placed(env: Env, agent_id: string, more: object = {}) {
  await using client = await connectStdio(kind, { env })
  const list = await client.value('place_calls', { agent_id, from_number, calls: [{ to_number }] })
  const [listed] = list.calls as { outcome: string; call_id: string }[]
  const call = { type: 'phone', agent_id, from_number, to_number, external_id: 'mine', ...more }
  const single = await client.value('place_call', call)
  return { listed, single }
}

const isNew = { listed: { outcome: 'placed' }, single: { repeated: false } }
const isKnown = { listed: { outcome: 'repeated' }, single: { repeated: true } }

describe('a call', () => {
  test('is the same for another API key of the account, and a new call at another base URL', async () => {
    await using platform = await startRunningCallsPlatform()
    await using other = await startRunningCallsPlatform()
    using folder = scratchFolder()
    const env = { ...platform.env, VOICE_AGENT_STATE_DIR: folder.path }
    const { id } = platform.agent
    expect(await placed(env, id)).toMatchObject(isNew)
    expect(await placed({ ...env, VOICE_AGENT_API_KEY: 'sk-rotated-0123' }, id)).toMatchObject(
      isKnown,
    )
    expect(platform.dialled).toHaveLength(2)
    expect(await placed({ ...env, VOICE_AGENT_BASE_URL: other.url }, id)).toMatchObject(isNew)
    expect(other.dialled).toHaveLength(2)
  }, 60_000)

  test('is a new call at another path of the same origin', async () => {
    await using platform = await startRunningCallsPlatform()
    using folder = scratchFolder()
    const env = { ...platform.env, VOICE_AGENT_STATE_DIR: folder.path }
    const list = { agent_id: platform.agent.id, from_number, calls: [{ to_number }] }
    for (const path of ['/one', '/two']) {
      const VOICE_AGENT_BASE_URL = platform.url + path
      await using client = await connectStdio(kind, { env: { ...env, VOICE_AGENT_BASE_URL } })
      expect((await client.value('place_calls', list)).summary).toEqual({ placed: 1 })
    }
  })

  test('of a deleted sandbox is not taken for a call of the next sandbox', async () => {
    using folder = scratchFolder()
    const VOICE_AGENT_SANDBOX_DB = join(folder.path, 'sandbox.db')
    const env = { VOICE_AGENT_SANDBOX_DB, VOICE_AGENT_STATE_DIR: folder.path }
    expect(await placed(env, seedIds.supportAgent)).toMatchObject(isNew)
    expect(await placed(env, seedIds.supportAgent)).toMatchObject(isKnown)
    for (const end of ['', '-wal', '-shm']) rmSync(VOICE_AGENT_SANDBOX_DB + end, { force: true })
    expect(await placed(env, seedIds.supportAgent)).toMatchObject(isNew)
    const elsewhere = { ...env, VOICE_AGENT_SANDBOX_DB: ':memory:' }
    expect(await placed(elsewhere, seedIds.supportAgent)).toMatchObject(isNew)
    expect(await placed(elsewhere, seedIds.supportAgent)).toMatchObject(isNew)
  }, 90_000)

  test('of a restarted sandbox server is a new call, even for a client that stays connected', async () => {
    using folder = scratchFolder()
    const list = { agent_id: seedIds.supportAgent, from_number, calls: [{ to_number }] }
    const port = String(await freePort())
    const serve = ['sandbox', '--port', port, '--sandbox-db', ':memory:']
    await using first = startProgram(serve)
    const [, url = ''] = await first.waitFor(/sandbox API at (\S+)\/v1/)
    await using client = await connectStdio(kind, {
      env: {
        VOICE_AGENT_BASE_URL: url,
        VOICE_AGENT_API_KEY: 'sandbox-key',
        VOICE_AGENT_STATE_DIR: folder.path,
      },
    })
    expect((await client.value('place_calls', list)).summary).toEqual({ placed: 1 })
    await first[Symbol.asyncDispose]()
    await using second = startProgram(serve)
    await second.waitFor(/sandbox API at/)
    expect((await client.value('place_calls', list)).summary).toEqual({ placed: 1 })
    expect((await client.value('place_calls', list)).summary).toEqual({ repeated: 1 })
  })

  test('is reported as placed if the platform can no longer name the account', async () => {
    await using platform = await startRunningCallsPlatform()
    using folder = scratchFolder()
    const env = { ...platform.env, VOICE_AGENT_STATE_DIR: folder.path }
    const { id } = platform.agent
    const { listed } = await placed(env, id)
    platform.loseAccount()
    expect((await placed(env, id)).listed).toMatchObject({
      outcome: 'repeated',
      call_id: listed?.call_id,
    })
  })
})
