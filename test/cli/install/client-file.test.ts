import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test, vi } from 'vitest'
import { changeClient } from '../../../src/cli/install/change-client.ts'
import {
  ChangedMeanwhileError,
  ClientFileError,
  readClientFile,
  replaceClientFile,
} from '../../../src/cli/install/client-file.ts'
import { clients } from '../../../src/cli/install/clients.ts'
import { clientHome } from '../../harness/client-home.ts'

const isPrivate = false
const noWarning = () => undefined
const backups = (folder: string) => readdirSync(folder).filter((name) => name.endsWith('.bak'))

test('a byte order mark, line ends and the mode stay', () => {
  using home = clientHome()
  const path = home.write('a.json', '\uFEFF{}\r\n')
  chmodSync(path, 0o640)
  const file = readClientFile(path)
  expect(file.text).toBe('{}\r\n')
  replaceClientFile(file, '{"a":1}\r\n', { isPrivate })
  expect(readFileSync(path)).toEqual(Buffer.from('\uFEFF{"a":1}\r\n'))
  expect(statSync(path).mode & 0o777).toBe(0o640)
  expect(readdirSync(home.path)).toHaveLength(2)
})

test('the file before is kept, three times', () => {
  using home = clientHome()
  const path = home.write('a.json', '0')
  home.write('a.json.mine.bak', 'stays')
  home.write('a.json.2026.voice-agent-mcp.bak', 'stays, too')
  for (let at = 1; at <= 5; at++) {
    const backup = replaceClientFile(readClientFile(path), String(at), { isPrivate }) ?? ''
    expect(readFileSync(backup, 'utf8')).toBe(String(at - 1))
    // Waits 1 ms, because the names of backups contain the time in ms.
    const now = Date.now()
    while (Date.now() === now);
  }
  const own = backups(home.path).filter((name) => /\.\d{8}T/.test(name))
  expect(own.map((name) => home.read(name))).toEqual(['2', '3', '4'])
  expect(backups(home.path)).toHaveLength(5)
})

test('a link is followed, also to a file that does not exist yet', () => {
  using home = clientHome()
  const target = home.write('dotfiles/a.json', '{}')
  const link = join(home.path, 'a.json')
  symlinkSync('dotfiles/a.json', link)
  replaceClientFile(readClientFile(link), '{"a":1}', { isPrivate })
  expect(lstatSync(link).isSymbolicLink()).toBe(true)
  expect(readFileSync(target, 'utf8')).toBe('{"a":1}')
  const dangling = join(home.path, 'b.json')
  symlinkSync('dotfiles/b.json', dangling)
  replaceClientFile(readClientFile(dangling), '{}', { isPrivate })
  expect(lstatSync(dangling).isSymbolicLink()).toBe(true)
  expect(home.read('dotfiles/b.json')).toBe('{}')
})

test('a new file is readable to the user alone, and its folder is made', () => {
  using home = clientHome()
  const path = join(home.path, 'x/y/a.json')
  expect(replaceClientFile(readClientFile(path), '{}', { isPrivate })).toBeUndefined()
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('links in a circle, and a folder in place of the file, are errors', () => {
  using home = clientHome()
  symlinkSync('b', join(home.path, 'a'))
  symlinkSync('a', join(home.path, 'b'))
  expect(() => readClientFile(join(home.path, 'a'))).toThrow('(ELOOP)')
  expect(() => readClientFile(home.path)).toThrow(ClientFileError)
})

// Root ignores file permissions.
test.skipIf(process.getuid?.() === 0)('a file that is read-only stays as it is', () => {
  using home = clientHome()
  const path = home.write('a.json', '{}')
  chmodSync(path, 0o400)
  expect(() => replaceClientFile(readClientFile(path), '', { isPrivate })).toThrow(/EACCES/)
  expect(home.read('a.json')).toBe('{}')
})

describe('a change by another program between reading and writing', () => {
  const [cursor] = clients.filter(({ id }) => id === 'cursor')
  if (!cursor) throw new Error('No such client')
  const change = {
    name: 'ours',
    stepsFor: () => [{ set: ['mcpServers', 'ours'], value: { command: 'x' } }],
    secrets: [],
    isPrivate,
    notes: [],
  }
  const file = '.cursor/mcp.json'

  /** Changes a file that another program overwrites with `written` after it was read. */
  async function meanwhile(before: string | undefined, written: string) {
    using home = clientHome()
    if (before !== undefined) home.write(file, before)
    const decide = async () => {
      home.write(file, written)
      return 'write' as const
    }
    const machine = home.machine('linux')
    const outcome = await changeClient(cursor as never, machine, change, decide, noWarning)
    const left = existsSync(join(home.path, '.cursor'))
      ? readdirSync(join(home.path, '.cursor'))
      : []
    return { outcome, text: home.read(file), left }
  }

  test('is kept, where our change is the same there', async () => {
    const before = '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'
    const written = before.replace('{\n', '{\n  "numStartups": 2,\n')
    const { outcome, text } = await meanwhile(before, written)
    expect(outcome.status).toBe('written')
    expect(JSON.parse(text)).toEqual({
      numStartups: 2,
      mcpServers: { a: {}, ours: { command: 'x' } },
    })
  })

  test.each([
    [
      'another indentation',
      '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n',
      '{"mcpServers":{"a":{}}}',
    ],
    ['a new file', undefined, '{"mcpServers":{"a":{}}}'],
    ['a file that is not JSON any more', '{"mcpServers":{"a":{}}}', '{"mcpServers":'],
  ])('is noticed, and nothing is written: %s', async (_, before, written) => {
    const { outcome, text, left } = await meanwhile(before, written)
    expect(outcome.status).toBe('failed')
    expect(outcome.notes).toHaveLength(1)
    expect(text).toBe(written)
    expect(left).toEqual(['mcp.json'])
  })
})

describe('two runs at once', () => {
  const cursor = clients.filter(({ id }) => id === 'cursor')
  const change = {
    name: 'ours',
    stepsFor: () => [{ set: ['mcpServers', 'ours'], value: {} }],
    secrets: [],
    isPrivate,
    notes: [],
  }
  const file = '.cursor/mcp.json'
  const lock = '.cursor/.mcp.json.voice-agent-mcp.lock'
  const before = '{\n  "mcpServers": {\n    "a": {}\n  }\n}\n'

  test('the second waits for the first, and keeps what that wrote', async () => {
    using home = clientHome()
    home.write(file, before)
    const held = home.write(lock, '')
    const [client] = cursor
    if (!client) throw new Error('No such client')
    const warnings: string[] = []
    const warn = (line: string) => void warnings.push(line)
    const done = changeClient(client, home.machine('linux'), change, async () => 'write', warn)
    await sleep(100)
    expect(home.read(file)).toBe(before)
    expect(warnings).toEqual([])
    await expect.poll(() => warnings).toEqual([expect.stringContaining(lock)])
    home.write(file, before.replace('"a": {}', '"a": {},\n    "first": {}'))
    rmSync(held)
    expect((await done).status).toBe('written')
    expect(JSON.parse(home.read(file))).toEqual({ mcpServers: { a: {}, first: {}, ours: {} } })
    expect(existsSync(held)).toBe(false)
  })

  test('a folder where the lock belongs is named, at once, and nothing is written', async () => {
    using home = clientHome()
    home.write(file, before)
    home.write(`${lock}/inside`, '')
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(join(home.path, lock), longAgo, longAgo)
    const [client] = cursor
    if (!client) throw new Error('No such client')
    const outcome = await changeClient(
      client,
      home.machine('linux'),
      change,
      async () => 'write',
      noWarning,
    )
    expect(outcome.status).toBe('failed')
    expect(JSON.stringify(outcome)).toContain(lock)
    expect(home.read(file)).toBe(before)
  })

  test('what a run that was killed has left is taken away', async () => {
    using home = clientHome()
    home.write(file, before)
    const held = home.write(lock, '')
    const longAgo = new Date(Date.now() - 60_000)
    utimesSync(held, longAgo, longAgo)
    const [client] = cursor
    if (!client) throw new Error('No such client')
    const { status } = await changeClient(
      client,
      home.machine('linux'),
      change,
      async () => 'write',
      noWarning,
    )
    expect(status).toBe('written')
    expect(existsSync(held)).toBe(false)
  })
})

test('the text that a killed run has left is taken away, and nothing of others', () => {
  using home = clientHome()
  const path = home.write('a.json', '0')
  home.write('.a.json.voice-agent-mcp.tmp.0123', 'with a key')
  home.write('.b.json.voice-agent-mcp.tmp.0123', 'of another file')
  home.write('.a.json.1234.tmp', 'of another program')
  replaceClientFile(readClientFile(path), '1', { isPrivate })
  expect(readdirSync(home.path).filter((name) => name.includes('tmp'))).toEqual([
    '.a.json.1234.tmp',
    '.b.json.voice-agent-mcp.tmp.0123',
  ])
})

test('two backups of the same millisecond are two files', () => {
  using home = clientHome()
  const path = home.write('a.json', '0')
  vi.useFakeTimers({ toFake: ['Date'] })
  try {
    const made = [1, 2].map((at) =>
      replaceClientFile(readClientFile(path), String(at), { isPrivate }),
    )
    expect(new Set(made).size).toBe(2)
    expect(backups(home.path).map((name) => home.read(name))).toEqual(['0', '1'])
  } finally {
    vi.useRealTimers()
  }
})

test('the text is on the disk as a whole, or not at all', () => {
  using home = clientHome()
  const path = home.write('a.json', '{}')
  const file = readClientFile(path)
  writeFileSync(path, '{"b":1}')
  expect(() => replaceClientFile(file, '{"a":1}', { isPrivate })).toThrow(ChangedMeanwhileError)
  expect(readdirSync(home.path)).toEqual(['a.json'])
  expect(home.read('a.json')).toBe('{"b":1}')
})
