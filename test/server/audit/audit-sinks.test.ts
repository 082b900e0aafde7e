import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import {
  AuditQueue,
  fileSink,
  stateSink,
  streamSink,
} from '../../../src/server/audit/audit-sinks.ts'
import type { AuditEntry } from '../../../src/state/audit-trail.ts'
import { createSqliteAuditTrail } from '../../../src/state/sqlite/sqlite-audit-trail.ts'
import { scratchFolder } from '../../harness/program.ts'
import { entryOf } from '../../state/conformance/audit-trail.ts'

const linesIn = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))

test('a file gets a line for each entry, and only its user can read it', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'new', 'audit.jsonl')
  const sink = fileSink(file)
  await sink.save(entryOf('a', { arguments: { name: 'x\u2028\u202ey' } }))
  await sink.save(entryOf('b'))
  expect(linesIn(file)).toMatchObject([
    { event: 'audit', level: 'notice', id: 'a', arguments: { name: 'x\u2028\u202ey' } },
    { id: 'b' },
  ])
  expect(readFileSync(file, 'utf8')).not.toMatch(/[\u2028\u202e]/)
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
})

test('a file that was moved away is made anew', async () => {
  using folder = scratchFolder()
  const file = join(folder.path, 'audit.jsonl')
  const sink = fileSink(file)
  await sink.save(entryOf('a'))
  renameSync(file, `${file}.1`)
  await sink.save(entryOf('b'))
  expect(linesIn(`${file}.1`)).toMatchObject([{ id: 'a' }])
  expect(linesIn(file)).toMatchObject([{ id: 'b' }])
})

test('a stream that nobody reads takes no more', async () => {
  const written: string[] = []
  const stream = { write: (text: string) => written.push(text) > 0, writableLength: 0 }
  const sink = streamSink(stream)
  await sink.save(entryOf('a'))
  stream.writableLength = 2 ** 21
  await expect(sink.save(entryOf('b'))).rejects.toThrow('nobody reads it')
  expect(written).toHaveLength(1)
})

test('the state keeps entries for so many days, and deletes some at a time', async () => {
  const trail = createSqliteAuditTrail(':memory:', '--state-dir')
  const day = 24 * 3_600_000
  const at = (days: number) => new Date(Date.now() - days * day).toISOString()
  for (let count = 0; count < 700; count++) await trail.save(entryOf(`${count}`, { time: at(91) }))
  await trail.save(entryOf('young', { time: at(89) }))
  const sink = stateSink(trail, 90)
  await sink.save(entryOf('a', { time: at(0) }))
  expect(await trail.list({ limit: 5000 })).toHaveLength(202)
  await sink.save(entryOf('b', { time: at(0) }))
  const left = await trail.list({ limit: 5000 })
  expect(left.map(({ id }) => id)).toEqual(['b', 'a', 'young'])
  expect(existsSync('audit.jsonl')).toBe(false)
})

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** A queue with a sink that works, fails or hangs. */
function queueOf() {
  const saved: AuditEntry[] = []
  const troubles: string[] = []
  let behaviour: 'works' | 'fails' | 'hangs' = 'works'
  const sink = {
    name: 'in a test',
    async save(entry: AuditEntry) {
      if (behaviour === 'hangs') await new Promise(() => undefined)
      await turn()
      if (behaviour === 'fails') throw new Error('no space')
      saved.push(entry)
    },
  }
  return {
    ...{ saved, troubles },
    queue: new AuditQueue(sink, (message) => troubles.push(message)),
    becomes: (next: typeof behaviour) => {
      behaviour = next
    },
    ids: () => saved.map(({ id }) => id),
  }
}

const turns = async () => {
  for (let count = 0; count < 20; count++) await turn()
}

test('entries are saved in order; of one that waits only the latest state', async () => {
  const { queue, saved } = queueOf()
  // The first entry is already being saved when the others are added.
  for (const id of ['first', 'a', 'b', 'a']) queue.add(entryOf(id))
  queue.add(entryOf('b', { outcome: 'failed' }))
  await queue.close()
  expect(saved.map(({ id, outcome }) => [id, outcome])).toEqual([
    ['first', 'done'],
    ['a', 'done'],
    ['b', 'failed'],
  ])
})

test('an entry that is added at any moment is saved', async () => {
  const { queue, ids } = queueOf()
  for (let count = 0; count < 30; count++) {
    queue.add(entryOf(`${count}`))
    for (let step = 0; step < count % 7; step++) await Promise.resolve()
    if (count % 3 === 0) await turn()
  }
  await turns()
  await turns()
  expect(ids()).toHaveLength(30)
})

test('what could not be saved is saved later, in order, and the log says both once', async () => {
  const { queue, ids, troubles, becomes } = queueOf()
  becomes('fails')
  for (const id of ['a', 'b']) queue.add(entryOf(id))
  await turns()
  vi.advanceTimersByTime(5000)
  await turns()
  expect(ids()).toEqual([])
  becomes('works')
  queue.add(entryOf('c'))
  vi.advanceTimersByTime(5000)
  await turns()
  expect(ids()).toEqual(['a', 'b', 'c'])
  expect(troubles).toEqual([
    expect.stringMatching(/in a test.*no space/),
    expect.stringMatching(/in a test(?!.*no space)/),
  ])
})

test('a call waits for a slow sink for a moment only, and not at all while it is known to fail', async () => {
  const { queue, becomes } = queueOf()
  becomes('hangs')
  let isOver = false
  const waiting = queue.saveSoon(entryOf('a')).then(() => {
    isOver = true
  })
  await turns()
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(2000)
  await waiting

  const failing = queueOf()
  failing.becomes('fails')
  await failing.queue.saveSoon(entryOf('a'))
  failing.becomes('hangs')
  await failing.queue.saveSoon(entryOf('b'))
})

test('a call does not wait for the entries of others', async () => {
  const { queue, ids } = queueOf()
  let isOver = false
  for (let count = 0; count < 50; count++) queue.add(entryOf(`${count}`))
  const waiting = queue.saveSoon(entryOf('mine', { outcome: 'begun' })).then(() => {
    isOver = true
  })
  await turn()
  await turn()
  expect(isOver).toBe(true)
  expect(ids().length).toBeLessThan(10)
  await waiting
  await queue.close()
})

test('what has ended does not begin again', async () => {
  const { queue, saved, becomes } = queueOf()
  becomes('fails')
  const begun = queue.saveSoon(entryOf('a', { outcome: 'begun' }))
  queue.add(entryOf('a', { outcome: 'done' }))
  await begun
  becomes('works')
  await queue.close()
  expect(saved.map(({ outcome }) => outcome)).toEqual(['done'])
})

test('what must be saved is saved at once, or the caller is told', async () => {
  const { queue, ids, becomes } = queueOf()
  await queue.saveNow(entryOf('a'))
  expect(ids()).toEqual(['a'])
  becomes('fails')
  await expect(queue.saveNow(entryOf('b'))).rejects.toThrow('no space')
})

test('a long outage takes little memory: the oldest entries are given up, and the log says so', async () => {
  const { queue, ids, troubles, becomes } = queueOf()
  becomes('fails')
  queue.add(entryOf('first'))
  await turns()
  for (let count = 0; count < 1001; count++) queue.add(entryOf(`${count}`))
  becomes('works')
  await queue.close()
  expect(ids()).toHaveLength(1000)
  expect(ids().at(-1)).toBe('1000')
  expect(troubles.filter((one) => /\b(first|0)\b/.test(one))).toHaveLength(2)
})

test('at the end what waits is tried once more, and what is lost is counted', async () => {
  const { queue, ids, troubles, becomes } = queueOf()
  becomes('fails')
  for (const id of ['a', 'b']) queue.add(entryOf(id))
  await turns()
  await queue.close()
  expect(troubles.at(-1)).toMatch(/^2 .*in a test/)
  queue.add(entryOf('c'))
  becomes('works')
  await turns()
  expect(ids()).toEqual([])
})
