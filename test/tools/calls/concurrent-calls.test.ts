import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { connectPerson, type Person } from '../../harness/answering-client.ts'
import { scratchFolder, startHttpProgram } from '../../harness/program.ts'
import { startRunningCallsPlatform } from '../../harness/running-calls-platform.ts'

let platform: Awaited<ReturnType<typeof startRunningCallsPlatform>>
let folder: ReturnType<typeof scratchFolder>
beforeEach(async () => {
  platform = await startRunningCallsPlatform()
  folder = scratchFolder()
})
afterEach(async () => {
  await platform[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const env = () => ({
  ...platform.env,
  VOICE_AGENT_STATE_DIR: folder.path,
  VOICE_AGENT_CONFIRM: 'never',
  VOICE_AGENT_DIAL_POLICY: '{"max_at_once": 1}',
})
const start = () => connectPerson('v2 2026-07-28', { env: env() })

let numbers = 0
const place = (client: Person) =>
  client.call('place_call', {
    type: 'phone',
    agent_id: platform.agent.id,
    from_number: '+493023125000',
    to_number: `+4930231251${String(numbers++).padStart(2, '0')}`,
  })
const isPlaced = async (client: Person) => {
  const { isError, content } = await place(client)
  if (isError) expect(content[0]?.text).toContain('max_at_once')
  return !isError
}

describe('max_at_once 1', () => {
  test('a call that ended while no server ran does not count after a clean stop', async () => {
    await using first = await start()
    expect(await isPlaced(first)).toBe(true)
    await first[Symbol.asyncDispose]()
    platform.end('call-0')
    await using next = await start()
    expect(await isPlaced(next)).toBe(true)
  })

  test('a call that ended while no server ran does not count after a kill', async () => {
    await using program = await startHttpProgram(env())
    await using first = await connectPerson('v2 2026-07-28', { url: program.url })
    expect(await isPlaced(first)).toBe(true)
    program.process.kill('SIGKILL')
    await program.exited
    platform.end('call-0')
    await using next = await start()
    expect(await isPlaced(next)).toBe(true)
  })

  test('a call that goes on counts after a restart, and is followed to its end', async () => {
    await using first = await start()
    expect(await isPlaced(first)).toBe(true)
    await first[Symbol.asyncDispose]()
    await using next = await start()
    expect(await isPlaced(next)).toBe(false)
    platform.end('call-0')
    await expect.poll(() => isPlaced(next), { timeout: 15_000, interval: 300 }).toBe(true)
  })

  test('a call that outlasted its lease while no server ran counts again', async () => {
    await using first = await start()
    expect(await isPlaced(first)).toBe(true)
    await first[Symbol.asyncDispose]()
    using db = new DatabaseSync(join(folder.path, 'dialled.db'))
    db.exec('UPDATE calls SET lease_end = 1')
    await using next = await start()
    expect(await isPlaced(next)).toBe(false)
  })

  test('a call that cannot be read counts', async () => {
    await using first = await start()
    expect(await isPlaced(first)).toBe(true)
    await first[Symbol.asyncDispose]()
    platform.end('call-0')
    platform.failNext(1000)
    await using next = await start()
    expect(await isPlaced(next)).toBe(false)
  })

  test('a call on another platform counts, and is not looked for on this one', async () => {
    await using first = await start()
    expect(await isPlaced(first)).toBe(true)
    await first[Symbol.asyncDispose]()
    await using other = await startRunningCallsPlatform()
    other.end('call-0')
    await using next = await connectPerson('v2 2026-07-28', { env: { ...env(), ...other.env } })
    expect(await isPlaced(next)).toBe(false)
  })

  test('two servers with one state directory allow one call at a time', async () => {
    await using one = await start()
    await using other = await start()
    expect(await isPlaced(one)).toBe(true)
    expect(await isPlaced(other)).toBe(false)
    platform.end('call-0')
    await expect.poll(() => isPlaced(other), { timeout: 15_000, interval: 300 }).toBe(true)
    expect(await isPlaced(one)).toBe(false)
  })
})
