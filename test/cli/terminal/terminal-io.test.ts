import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { afterAll, describe, expect, test } from 'vitest'
import {
  InterruptedError,
  readTextFile,
  readTextStream,
  terminalQuestions,
} from '../../../src/cli/terminal/terminal-io.ts'
import { scratchFolder } from '../../harness/program.ts'

describe('a question', () => {
  /** Answer to a question and the output, for a user who types these lines one by one. */
  async function answer(typed: string, usual: boolean) {
    const lines = typed.match(/.*\n/g) ?? []
    const input = new PassThrough()
    const output = new PassThrough()
    let shown = ''
    output.on('data', (text) => {
      shown += text
      if (!shown.endsWith('] ')) return
      const line = lines.shift()
      setImmediate(() => (line === undefined ? input.end() : input.write(line)))
    })
    return { is: await terminalQuestions(input, output).confirm('Write this?', usual), shown }
  }

  test.each([
    ['y\n', false, true],
    ['YES\n', false, true],
    ['n\n', true, false],
    ['No \n', true, false],
    ['\n', true, true],
    ['\n', false, false],
    ['maybe\ny\n', false, true],
    // Ctrl+D
    ['', true, false],
  ])('%j (usually %s) is %s', async (typed, usual, is) => {
    expect((await answer(typed, usual)).is).toBe(is)
  })

  test('the question says what Enter means', async () => {
    expect((await answer('\n', true)).shown).toContain('Write this? [Y/n] ')
    expect((await answer('\n', false)).shown).toContain('Write this? [y/N] ')
  })

  test('what follows the end of the input stands on a line of its own', async () => {
    expect((await answer('', false)).shown).toMatch(/\n$/)
  })

  test('Ctrl+C ends more than the question', async () => {
    const input = Object.assign(new PassThrough(), { setRawMode: () => undefined })
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
    const answered = terminalQuestions(input, output).confirm('Write this?', true)
    setImmediate(() => input.write('\x03'))
    await expect(answered).rejects.toThrow(InterruptedError)
  })
})

describe('a text of a file or of standard input', () => {
  const folder = scratchFolder()
  afterAll(() => folder[Symbol.dispose]())

  function file(bytes: Uint8Array | string): string {
    const path = join(folder.path, 'text.txt')
    writeFileSync(path, bytes)
    return path
  }

  const letters = 'Grüße, 你好'.repeat(20_000)

  test('a text is read whole, without the mark that some editors put before it', async () => {
    expect(await readTextFile(file(letters))).toBe(letters)
    expect(await readTextFile(file(`\uFEFF${letters}`))).toBe(letters)
    expect(await readTextFile(file(''))).toBe('')
    expect(await readTextStream(Readable.from([Buffer.from(`\uFEFF${letters}`)]))).toBe(letters)
  })

  test.each([
    ['UTF-16, as PowerShell writes it', Buffer.from('\uFEFFHello', 'utf16le')],
    ['Latin-1', Buffer.from('Grüße', 'latin1')],
  ])('%s is refused, and nothing is replaced in it', async (_, bytes) => {
    await expect(readTextFile(file(bytes))).rejects.toThrow(/text\.txt: .* UTF-8 /)
    await expect(readTextStream(Readable.from([bytes]))).rejects.toThrow(
      /^Standard input: .* UTF-8 /,
    )
  })

  test('what has no end is not read to its end', async () => {
    function* zeros() {
      for (;;) yield Buffer.alloc(1024 * 1024)
    }
    const tooLong = / 10485760 /
    await expect(readTextStream(Readable.from(zeros()))).rejects.toThrow(tooLong)
    await expect(readTextFile(file(Buffer.alloc(10 * 1024 * 1024 + 1, 'a')))).rejects.toThrow(
      tooLong,
    )
    if (process.platform === 'linux')
      await expect(readTextFile('/dev/zero')).rejects.toThrow(tooLong)
  })

  test('what cannot be read is named', async () => {
    const path = join(folder.path, 'a-folder')
    mkdirSync(path)
    await expect(readTextFile(path)).rejects.toThrow(/a-folder: .*\(EISDIR\)/)
    await expect(readTextFile(join(path, 'none'))).rejects.toThrow(`${join(path, 'none')}: `)
  })
})
