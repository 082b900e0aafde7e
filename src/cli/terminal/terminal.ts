import { styleText } from 'node:util'
import type { Environment } from '../../config/setting-texts.ts'
import type { HelpLayout } from '../help-layout.ts'
import { terminalQuestions } from '../install/questions.ts'
import { writeOutput } from '../standard-output.ts'
import { readTextFile, readTextStream } from './read-text.ts'

/** Style of a text; it counts only on a terminal, and not where NO_COLOR is set. */
export type Style = 'bold' | 'red'

/** Where `call` and `tools` read and write; tests give their own. */
export interface Terminal extends HelpLayout {
  /** Writes a line or more to standard output. A reader that is slow is waited for. */
  print(text: string): Promise<void>
  /** Writes a line or more to standard error. */
  warn(text: string): void
  /** Styles a text for standard output. */
  readonly styled: (style: Style, text: string) => string
  /** The same for standard error. */
  readonly styledWarning: (style: Style, text: string) => string
  /** Asks a yes/no question; `undefined`: there is nobody to ask. Throws InterruptedError. */
  readonly confirm: ((question: string) => Promise<boolean>) | undefined
  /** Writes over one line of standard error that is removed in the end; absent: it is no terminal. */
  readonly statusLine: StatusLine | undefined
  /** Throws CommandLineError. */
  readFile(path: string): string
  /** Throws CommandLineError. */
  readInput(): Promise<string>
}

export interface StatusLine {
  /** At most one line; longer texts are cut off. */
  show(text: string): void
  clear(): void
}

/** The terminal of this process. */
export function processTerminal(env: Environment, layout: HelpLayout): Terminal {
  const { stdin, stdout, stderr } = process
  return {
    ...layout,
    print: (text) => writeOutput(`${text}\n`),
    warn: (text) => stderr.write(`${text}\n`),
    styled: (style, text) => styleText(style, text, { stream: stdout }),
    styledWarning: (style, text) => styleText(style, text, { stream: stderr }),
    // Arguments that were typed to their end (--args -) have ended what can be read from the terminal.
    get confirm() {
      if (!stdin.isTTY || !stderr.isTTY || stdin.readableEnded) return undefined
      return (question: string) => terminalQuestions().confirm(question, false)
    },
    statusLine: stderr.isTTY && env.TERM !== 'dumb' ? statusLineOn(stderr) : undefined,
    readFile: readTextFile,
    readInput: () => readTextStream(stdin),
  }
}

/** Back to the beginning of the line, and delete to its end (ECMA-48). */
const eraseLine = '\r\u001b[K'

/** Where a terminal does not tell how wide it is. */
const usualColumns = 80

const statusLineOn = (stream: NodeJS.WriteStream): StatusLine => ({
  show: (text) => stream.write(eraseLine + text.slice(0, (stream.columns || usualColumns) - 1)),
  clear: () => stream.write(eraseLine),
})
