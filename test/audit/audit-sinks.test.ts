import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileSink, stateSink, streamSink } from '../../src/audit/audit-sinks.ts'
import { createMemoryAuditTrail } from '../../src/state/memory/memory-audit-trail.ts'
import { scratchFolder } from '../harness/program.ts'
import { entryOf } from '../state/conformance/audit-trail.ts'

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
  const trail = createMemoryAuditTrail(5000)
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
