import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'
import { bin, cleanEnv, scratchFolder } from '../harness/program.ts'
import { sandboxKeys, startSandbox } from '../harness/sandbox.ts'
import { confinements } from './storage-limits.ts'
import { expectConsistent } from './stored-data-checks.ts'

const agent = (name: string) => ({
  name,
  note: 'x'.repeat(5000),
  model: { provider: 'openai', model: 'gpt-4.1' },
  transcriber: { provider: 'deepgram' },
  voice: { provider: 'elevenlabs', voice_id: 'sbx-en-us-ada' },
})

/** Checks that the error names the file, gives advice and mentions the option for another file. */
function expectHelp(envelope: unknown, file: string, advice: RegExp): void {
  expect(envelope).toMatchObject({
    message: expect.stringContaining(file),
    detail: null,
    errors: null,
  })
  expect(envelope).toHaveProperty('message', expect.stringMatching(advice))
  expect(envelope).toHaveProperty('message', expect.stringContaining('VOICE_AGENT_SANDBOX_DB'))
}

describe.each(confinements)('$name', ({ isPossible, start }) => {
  test.skipIf(!isPossible)(
    'is reported, leaves no partial change, and ends when there is space',
    async () => {
      using folder = scratchFolder()
      await using confined = await start(folder.path)
      const send = async (path: string, body?: object) => {
        const response = await fetch(`${confined.url}/v1/accounts/me/${path}`, {
          method: body ? 'POST' : 'GET',
          headers: { 'x-api-key': sandboxKeys.main },
          ...(body && { body: JSON.stringify(body) }),
        })
        return { status: response.status, body: JSON.parse(await response.text()) }
      }
      const seeded = (await send('agents')).body.count
      let answered = 0
      let refusal = await send('agents', agent('A0'))
      while (refusal.status === 201) refusal = await send('agents', agent(`A${++answered}`))

      expect(refusal.status).toBe(500)
      expectHelp(refusal.body, confined.file, /free space/i)
      expect((await send('agents?name=A')).body.count).toBeGreaterThan(0)
      expect((await send('agents')).body.count).toBe(seeded + answered)
      expect((await send(`agents?name=A${answered}`)).body.count).toBe(0)

      confined.freeSpace()
      expect((await send('agents', agent(`A${answered}`))).status).toBe(201)
      expect((await send('agents')).body.count).toBe(seeded + answered + 1)
      confined.show()
      expectConsistent(confined.file)
    },
  )
})

/** Creates an unusable file and returns its path. */
type Spoil = (folder: string) => string

const sandboxIn: Spoil = (folder) => {
  const file = join(folder, 'sandbox.db')
  startSandbox({ file })[Symbol.dispose]()
  return file
}

function changed(file: string, sql: string): string {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
  return file
}

/** Overwrites the root page of the agents' table. */
function damagePage(file: string): string {
  const db = new DatabaseSync(file)
  const found = db
    .prepare(
      "SELECT rootpage, page_size FROM sqlite_schema, pragma_page_size WHERE name = 'agents'",
    )
    .get()
  db.close()
  const { rootpage, page_size } = z.object({ rootpage: z.int(), page_size: z.int() }).parse(found)
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0x5a, (rootpage - 1) * page_size, rootpage * page_size))
  return file
}

const unusable: [name: string, spoil: Spoil, advice: RegExp][] = [
  [
    'garbage',
    (folder) => {
      const file = join(folder, 'sandbox.db')
      writeFileSync(file, 'Dear friend, this is a letter. '.repeat(300))
      return file
    },
    /-wal\b.*-shm\b/,
  ],
  [
    'cut off',
    (folder) => {
      const file = sandboxIn(folder)
      truncateSync(file, statSync(file).size / 2)
      return file
    },
    /-wal\b.*-shm\b/,
  ],
  ['a folder', (folder) => folder, /not a folder/],
  [
    'in a folder that is a file',
    (folder) => {
      writeFileSync(join(folder, 'file'), '')
      return join(folder, 'file', 'sandbox.db')
    },
    /not a folder/,
  ],
  [
    'of another version',
    (folder) => changed(sandboxIn(folder), 'PRAGMA user_version = 99'),
    /version \(99, not \d+\).*\bMove\b/,
  ],
  [
    'of another program',
    (folder) => changed(join(folder, 'other.db'), 'CREATE TABLE shopping (item TEXT)'),
    /another program.*\bMove\b/,
  ],
]

const contentOf = (file: string) =>
  statSync(file, { throwIfNoEntry: false })?.isFile() ? readFileSync(file) : null

describe('a file that cannot be used', () => {
  test.each(unusable)('(%s) is reported when it is opened, and not changed', (_, spoil, advice) => {
    using folder = scratchFolder()
    const file = spoil(folder.path)
    const before = contentOf(file)
    expect(() => startSandbox({ file })).toThrow(advice)
    expect(() => startSandbox({ file })).toThrow(file)
    expect(() => startSandbox({ file })).toThrow('VOICE_AGENT_SANDBOX_DB')
    expect(contentOf(file)).toEqual(before)
  })

  test.each([
    ['with damaged pages', damagePage, /-wal\b.*-shm\b/],
    [
      'with an invalid row',
      (file: string) => changed(file, "UPDATE agents SET config = '{'"),
      /invalid.*-wal\b.*-shm\b/,
    ],
  ])('(%s) is reported by the request that reads it', async (_, spoil, advice) => {
    using folder = scratchFolder()
    const file = spoil(sandboxIn(folder.path))
    using sandbox = startSandbox({ file })
    const { status, body } = await sandbox.get('accounts/me/agents')
    expect(status).toBe(500)
    expectHelp(body, file, advice)
  })

  /** Error output of the program, run without root's privileges. */
  const complaint = (file: string) => {
    const isRoot = process.getuid?.() === 0
    const { stderr, status } = spawnSync(process.execPath, [bin, 'sandbox', '--port', '0'], {
      env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: file }),
      encoding: 'utf8',
      ...(isRoot && { uid: 65534, gid: 65534 }),
    })
    expect(status).toBe(1)
    return stderr
  }

  test.skipIf(process.platform !== 'linux')(
    'in a folder that cannot be created is reported',
    () => {
      expect(() => startSandbox({ file: '/proc/none/none.db' })).toThrow(
        expect.objectContaining({
          name: 'StoreError',
          message: expect.stringContaining('/proc/none/none.db'),
        }),
      )
    },
  )

  test.skipIf(process.platform === 'win32')('without permission is reported', () => {
    using folder = scratchFolder()
    const file = sandboxIn(folder.path)
    chmodSync(file, 0o444)
    chmodSync(folder.path, 0o555)
    expect(complaint(file)).toMatch(/sandbox\.db .*\bread and write\b/)
    const none = join(folder.path, 'none.db')
    expect(complaint(none)).toMatch(/none\.db .*\bread and write\b/)
    const deep = join(folder.path, 'deep', 'none.db')
    expect(complaint(deep)).toMatch(/none\.db .*\bread and write\b/)
  })
})
