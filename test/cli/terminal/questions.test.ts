import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { InterruptedError, terminalQuestions } from '../../../src/cli/terminal/terminal-io.ts'

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
