import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { connectStdio } from '../harness/client.ts'
import { bin, cleanEnv, scratchFolder, startProgram } from '../harness/program.ts'

/** Permissions of a file or folder, in octal. */
const modeOf = (path: string) => (lstatSync(path).mode & 0o777).toString(8)

// Windows has neither file modes nor HOME.
describe.skipIf(process.platform === 'win32')('files of one user', () => {
  test('are readable by their user only, in any folder and with any umask', async () => {
    using folder = scratchFolder()
    chmodSync(folder.path, 0o755)
    const umask = process.umask(0)
    try {
      await using client = await connectStdio('v2 2026-07-28', {
        env: {
          VOICE_AGENT_SANDBOX_DB: join(folder.path, 'sandbox.db'),
          VOICE_AGENT_STATE_DIR: folder.path,
          VOICE_AGENT_DIAL_POLICY: '{"max_per_day":5}',
        },
      })
      const agents = await client.value('list_agents', { limit: 1 })
      const [agent] = agents.items as { id: string }[]
      const numbers = await client.value('list_phone_numbers', { limit: 1, fields: ['number'] })
      const [from] = numbers.items as { number: string }[]
      await client.call('place_call', {
        type: 'phone',
        agent_id: agent?.id,
        from_number: from?.number,
        to_number: '+12025550100',
      })
      const files = readdirSync(folder.path)
      expect(files.toSorted()).toEqual(
        expect.arrayContaining([
          'sandbox.db',
          'sandbox.db-wal',
          'sandbox-calls.db',
          'sandbox-dialled.db',
        ]),
      )
      for (const file of files)
        expect(`${file} ${modeOf(join(folder.path, file))}`).toBe(`${file} 600`)
    } finally {
      process.umask(umask)
    }
  })

  test.each([
    ['HOME is not set', { HOME: undefined }],
    ['HOME is empty', { HOME: '' }],
    ['HOME is relative', { HOME: 'home' }],
    ['XDG_DATA_HOME is relative', { XDG_DATA_HOME: 'data' }],
  ])('are not made where %s', (_, wrong) => {
    if (process.platform === 'darwin' && 'XDG_DATA_HOME' in wrong) return
    using folder = scratchFolder()
    for (const args of [['http', '--port', '0'], ['stdio']]) {
      const { status, stderr } = spawnSync(process.execPath, [bin, ...args], {
        cwd: folder.path,
        env: { ...cleanEnv({ XDG_DATA_HOME: '', XDG_CACHE_HOME: '' }), ...wrong },
        encoding: 'utf8',
        timeout: 15_000,
      })
      expect(status, args[0]).toBe(1)
      expect(stderr, args[0]).toMatch(/\bHOME .*--state-dir/)
      expect(readdirSync(folder.path), args[0]).toEqual([])
    }
  })
})

describe.skipIf(process.platform !== 'linux')('compiled code', () => {
  const isRoot = process.getuid?.() === 0

  /** Runs the program with its own cache and temporary folders. */
  async function run(cache: string, temporary: string) {
    const env = { XDG_CACHE_HOME: cache, TMPDIR: temporary, VOICE_AGENT_SANDBOX_DB: ':memory:' }
    await using program = startProgram([], env)
    program.process.stdin.end()
    expect(await program.exited).toBe(0)
  }

  test("is kept in a folder of the user's own, not in the shared temporary folder", async () => {
    using folder = scratchFolder()
    const [cache, temporary] = [join(folder.path, 'cache'), join(folder.path, 'tmp')]
    mkdirSync(temporary)
    await run(cache, temporary)
    const compiled = join(cache, 'voice-agent-mcp/compiled')
    expect(readdirSync(compiled, { recursive: true }).length).toBeGreaterThan(2)
    for (const made of [cache, join(cache, 'voice-agent-mcp'), compiled]) {
      expect(modeOf(made)).toBe('700')
    }
    expect(readdirSync(temporary)).toEqual([])
  })

  const wrongs: [string, (compiled: string) => void][] = [
    ['others may write to', (compiled) => chmodSync(compiled, 0o777)],
    ['another user owns', (compiled) => chownSync(compiled, 12_345, 12_345)],
    ['others may put another in its place', (compiled) => chmodSync(join(compiled, '..'), 0o777)],
  ]
  test.each(wrongs)('is not kept in a folder that %s', async (why, spoil) => {
    if (!isRoot && why === 'another user owns') return
    using folder = scratchFolder()
    const compiled = join(folder.path, 'voice-agent-mcp/compiled')
    mkdirSync(compiled, { recursive: true, mode: 0o700 })
    spoil(compiled)
    await run(folder.path, folder.path)
    expect(readdirSync(compiled)).toEqual([])
    expect(readdirSync(folder.path)).toEqual(['voice-agent-mcp'])
  })

  test('is not kept behind a link', async () => {
    using folder = scratchFolder()
    const [elsewhere, own] = [join(folder.path, 'elsewhere'), join(folder.path, 'voice-agent-mcp')]
    mkdirSync(elsewhere, { mode: 0o700 })
    mkdirSync(own, { mode: 0o700 })
    symlinkSync(elsewhere, join(own, 'compiled'))
    await run(folder.path, folder.path)
    expect(readdirSync(elsewhere)).toEqual([])
    expect(readdirSync(folder.path).toSorted()).toEqual(['elsewhere', 'voice-agent-mcp'])
  })
})
