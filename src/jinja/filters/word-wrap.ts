import type { Runtime } from '../python/runtime.ts'
import { sliceText, textLength } from '../python/text.ts'

type WrapOptions = {
  readonly width: number
  readonly breakLong: boolean
  readonly breakHyphens: boolean
}

/** Steps for a word, a run of spaces or a new line. */
const stepsPerChunk = 5

const letter = /[\p{L}_]/u
const spaceRun = /^[\t\n\v\f\r ]/

/** Words and the runs of spaces between them; a hyphen between letters may end a chunk. */
function chunksOf(line: string, breakHyphens: boolean): string[] {
  const pieces = line.split(/([\t\n\v\f\r ]+)/).filter((piece) => piece !== '')
  return breakHyphens ? pieces.flatMap(splitHyphens) : pieces
}

function splitHyphens(word: string): string[] {
  const parts: string[] = []
  let start = 0
  for (let at = word.indexOf('-'); at >= 0; at = word.indexOf('-', at + 1)) {
    const before = word[at - 1] ?? ''
    const after = word.slice(at + 1, at + 3)
    const both = [...after].length === 2 && [...after].every((char) => letter.test(char))
    if (!letter.test(before) || !both) continue
    parts.push(word.slice(start, at + 1))
    start = at + 1
  }
  parts.push(word.slice(start))
  return parts
}

/** Breaks one line into lines of at most `width` characters, as Python's `textwrap` does. */
export function wrapText(
  runtime: Runtime,
  line: string,
  { width, breakLong, breakHyphens }: WrapOptions,
): string[] {
  const chunks = chunksOf(line, breakHyphens).reverse()
  const lines: string[] = []
  runtime.spend(stepsPerChunk * chunks.length)
  while (chunks.length > 0) {
    const current: string[] = []
    let length = 0
    if (lines.length > 0 && isBlank(chunks.at(-1))) chunks.pop()
    for (let chunk = chunks.at(-1); chunk !== undefined; chunk = chunks.at(-1)) {
      if (length + textLength(chunk) > width) break
      current.push(chunk)
      length += textLength(chunk)
      chunks.pop()
    }
    const next = chunks.at(-1)
    // A word that is too long is read again for each line that it fills.
    runtime.read(next ?? '')
    runtime.spend(stepsPerChunk)
    if (next !== undefined && textLength(next) > width) {
      breakWord(chunks, current, next, breakLong ? width - length : null, breakHyphens)
    }
    if (isBlank(current.at(-1))) current.pop()
    if (current.length > 0) lines.push(current.join(''))
  }
  return lines
}

/**
 * Puts what fits of a word that is too long for any line. It may be nothing, and even then Python
 * counts it as the line's last chunk, so that spaces before it stay.
 */
function breakWord(
  chunks: string[],
  current: string[],
  word: string,
  room: number | null,
  breakHyphens: boolean,
): void {
  if (room === null && current.length > 0) return
  chunks.pop()
  if (room === null) {
    current.push(word)
    return
  }
  const [head, tail] = splitAt(word, breakHyphens ? hyphenBefore(word, room) : room)
  current.push(head)
  if (tail !== '') chunks.push(tail)
}

/** Behind the last hyphen that fits, if something else comes before it. */
function hyphenBefore(word: string, room: number): number {
  const [start] = splitAt(word, room)
  const hyphen = start.lastIndexOf('-')
  if (hyphen <= 0 || /^-*$/.test(start.slice(0, hyphen))) return room
  return textLength(start.slice(0, hyphen + 1))
}

function splitAt(chunk: string, room: number): [string, string] {
  const head = sliceText(chunk, 0, room)
  return [head, chunk.slice(head.length)]
}

function isBlank(chunk: string | undefined): boolean {
  return chunk === '' || (chunk !== undefined && spaceRun.test(chunk))
}
