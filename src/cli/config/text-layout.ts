import type { Environment } from './given-settings.ts'

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
