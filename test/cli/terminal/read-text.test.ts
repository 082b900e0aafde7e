import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, expect, test } from 'vitest'
import { readTextFile, readTextStream } from '../../../src/cli/terminal/terminal-io.ts'
import { scratchFolder } from '../../harness/program.ts'

const folder = scratchFolder()
afterAll(() => folder[Symbol.dispose]())

function file(bytes: Uint8Array | string): string {
  const path = join(folder.path, 'text.txt')
  writeFileSync(path, bytes)
  return path
}

const letters = 'Grüße, 你好'.repeat(20_000)

test('a text is read whole, without the mark that some editors put before it', async () => {
  expect(readTextFile(file(letters))).toBe(letters)
  expect(readTextFile(file(`\uFEFF${letters}`))).toBe(letters)
  expect(readTextFile(file(''))).toBe('')
  expect(await readTextStream(Readable.from([Buffer.from(`\uFEFF${letters}`)]))).toBe(letters)
})

test.each([
  ['UTF-16, as PowerShell writes it', Buffer.from('\uFEFFHello', 'utf16le')],
  ['Latin-1', Buffer.from('Grüße', 'latin1')],
])('%s is refused, and nothing is replaced in it', async (_, bytes) => {
  expect(() => readTextFile(file(bytes))).toThrow(/text\.txt: .* UTF-8 /)
  await expect(readTextStream(Readable.from([bytes]))).rejects.toThrow(/^Standard input: .* UTF-8 /)
})

test('what has no end is not read to its end', async () => {
  function* zeros() {
    for (;;) yield Buffer.alloc(1024 * 1024)
  }
  const tooLong = / 10485760 /
  await expect(readTextStream(Readable.from(zeros()))).rejects.toThrow(tooLong)
  expect(() => readTextFile(file(Buffer.alloc(10 * 1024 * 1024 + 1, 'a')))).toThrow(tooLong)
  if (process.platform === 'linux') expect(() => readTextFile('/dev/zero')).toThrow(tooLong)
})

test('what cannot be read is named', () => {
  const path = join(folder.path, 'a-folder')
  mkdirSync(path)
  expect(() => readTextFile(path)).toThrow(/a-folder: .*\(EISDIR\)/)
  expect(() => readTextFile(join(path, 'none'))).toThrow(`${join(path, 'none')}: `)
})
