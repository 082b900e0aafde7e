import { once } from 'node:events'
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { styleText } from 'node:util'
import { CommandLineError, readFault } from '../config/config-error.ts'
import type { Environment } from '../config/given-settings.ts'

/** Ignored without a terminal, and with NO_COLOR. */
type Style = 'bold' | 'red'

/** Input and output of `call` and `tools`; tests inject their own. */
export type Terminal = ReturnType<typeof processTerminal>

/** Status line on standard error, erased at the end. */
export type StatusLine = ReturnType<typeof statusLineOn>

export function processTerminal(env: Environment) {
  const { stdin, stdout, stderr } = process
  return {
    /** Columns of standard output; `undefined`: not a terminal, so lines are not wrapped. */
    width: textWidth(env),
    /** Writes one or more lines to standard output. Waits for a slow reader. */
    print: (text: string) => writeOutput(`${text}\n`),
    /** Writes one or more lines to standard error. */
    warn: (text: string) => void stderr.write(`${text}\n`),
    styled: (style: Style, text: string) => styleText(style, text, { stream: stdout }),
    styledWarning: (style: Style, text: string) => styleText(style, text, { stream: stderr }),
    /**
     * Asks a yes/no question; `undefined` if nobody can be asked. Reading arguments from standard
     * input (--args -) consumes it, so no question can be asked. Throws InterruptedError.
     */
    get confirm() {
      if (!stdin.isTTY || !stderr.isTTY || stdin.readableEnded) return undefined
      return (question: string) => terminalQuestions().confirm(question, false)
    },
    /** `undefined` without a terminal. */
    statusLine: stderr.isTTY && env.TERM !== 'dumb' ? statusLineOn(stderr) : undefined,
    /** Throws CommandLineError. */
    readFile: readTextFile,
    /** Throws CommandLineError. */
    readInput: () => readTextStream(stdin),
  }
}

/**
 * Columns of the terminal that text is printed on; `undefined` without a terminal: lines are not
 * wrapped. A program that shows the output to a person may set COLUMNS.
 */
export function textWidth({ COLUMNS }: Environment): number | undefined {
  const declared = Number(COLUMNS)
  // A terminal of unknown size reports 0.
  return (
    process.stdout.columns || (Number.isInteger(declared) && declared > 0 ? declared : undefined)
  )
}

/** Back to the beginning of the line, and delete to its end (ECMA-48). */
const eraseLine = '\r\u001b[K'

/** Default if the terminal does not report its width. */
const usualColumns = 80

const statusLineOn = (stream: NodeJS.WriteStream) => ({
  /** Shows at most one line; longer texts are truncated. */
  show(text: string): void {
    stream.write(eraseLine + text.slice(0, (stream.columns || usualColumns) - 1))
  },
  clear: () => void stream.write(eraseLine),
})

/** Writes to standard output and waits for a slow reader. A closed pipe is not an error. */
export async function writeOutput(text: string): Promise<void> {
  const { stdout } = process
  if (stdout.write(text) || stdout.destroyed) return
  await Promise.race([once(stdout, 'drain'), once(stdout, 'close')]).catch(() => undefined)
}

/** Thrown if the person presses Ctrl+C at a question, which ends the whole command. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Asks the person at the terminal. */
export type Questions = ReturnType<typeof terminalQuestions>

/** Questions go to standard error, so that standard output has only the result. */
export function terminalQuestions(
  input: NodeJS.ReadableStream = process.stdin,
  output: NodeJS.WritableStream = process.stderr,
) {
  return {
    /** `usual` is the answer for Enter. End of input means no. Throws InterruptedError. */
    async confirm(question: string, usual: boolean): Promise<boolean> {
      const lines = createInterface({ input, output })
      const ended = new Promise<undefined>((resolve, reject) => {
        lines.once('close', () => resolve(undefined))
        lines.once('SIGINT', () => reject(new InterruptedError()))
      })
      try {
        for (;;) {
          const hint = usual ? '[Y/n]' : '[y/N]'
          const answer = await Promise.race([lines.question(`${question} ${hint} `), ended])
          if (answer === undefined) {
            // Ctrl+D leaves the cursor after the question.
            output.write('\n')
            return false
          }
          const word = answer.trim().toLowerCase()
          if (word === '') return usual
          if (['y', 'yes', 'n', 'no'].includes(word)) return word.startsWith('y')
        }
      } finally {
        lines.close()
      }
    },
  }
}

/**
 * Longest text of a file or of standard input, bytes. Same as the limit of an MCP message over
 * stdio.
 */
const longestText = 10 * 1024 * 1024

/** Reads a file without its byte order mark. Throws CommandLineError. */
export async function readTextFile(path: string): Promise<string> {
  try {
    return await textOf(path, createReadStream(path))
  } catch (error) {
    if (error instanceof CommandLineError) throw error
    throw new CommandLineError(`${path}: ${readFault(error)}.`)
  }
}

/** The text of standard input, without a byte order mark. Throws CommandLineError. */
export const readTextStream = (stream: AsyncIterable<Uint8Array>): Promise<string> =>
  textOf('Standard input', stream)

/**
 * Reads UTF-8 text. Stops at the limit, because a device or pipe may be endless. Refuses bytes that
 * are not UTF-8: replacement characters would reach an agent's greeting.
 */
async function textOf(source: string, stream: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of stream) {
    length += piece.length
    if (length > longestText) {
      throw new CommandLineError(`${source}: it is longer than ${longestText} bytes.`)
    }
    pieces.push(piece)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(pieces))
  } catch {
    throw new CommandLineError(
      `${source}: it is not UTF-8 text. Save it as UTF-8; PowerShell's > writes UTF-16 on Windows, Set-Content -Encoding utf8 does not.`,
    )
  }
}

/**
 * Formats parts of a help, with an empty line between them. Wraps lines at `width` columns; without
 * `width`, each row is one line.
 */
export const helpParts = (parts: readonly HelpPart[], width?: number): string =>
  parts.map((part) => partText(part, width)).join('\n\n')

/** Lines of text and rows of a table. */
export type HelpPart = readonly (string | Row)[]
export type Row = readonly [name: string, meaning: string]

/** Minimum columns of a description beside its name; with fewer it starts on the next line. */
const minMeaningWidth = 32

/**
 * Longest name that has its description beside it, columns. The description of a longer name is
 * below the name, unless all names are longer.
 */
const longestBeside = 34

function partText(part: HelpPart, width = Number.POSITIVE_INFINITY): string {
  const names = part.flatMap((line) => (typeof line === 'string' ? [] : [line[0].length]))
  const short = names.filter((length) => length <= longestBeside)
  const longest = Math.max(0, ...(short.length > 0 ? short : names))
  const indent = longest + 4
  const isBeside = width - indent >= minMeaningWidth
  return part
    .flatMap((line) => {
      // Examples are commands to copy: their lines are not wrapped.
      if (typeof line === 'string') return line.startsWith(' ') ? [line] : wrapped(line, width)
      const [name, meaning] = line
      if (!isBeside)
        return [`  ${name}`, ...wrapped(meaning, width - 6).map((one) => `      ${one}`)]
      const beside = wrapped(meaning, width - indent).map((one) => ' '.repeat(indent) + one)
      const [first = '', ...rest] = beside
      return name.length > longest
        ? [`  ${name}`, ...beside]
        : [`  ${name}`.padEnd(indent) + first.slice(indent), ...rest]
    })
    .join('\n')
}

/**
 * Breaks a text into lines of at most `width` columns, between words. A longer word has its own
 * line.
 */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return lines
}
