/** A part of a text; `isChanged`: the other text lacks it there. */
export interface Piece {
  readonly text: string
  readonly isChanged: boolean
}

/** Maximum compared pairs of words; of longer texts only the common prefix and suffix are found. */
const maxPairs = 1_000_000

const wordsOf = (text: string) => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|./gsu) ?? []

/** Changed words of two texts, by their longest common subsequence. */
export function wordChanges(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const [one, other] = [wordsOf(before), wordsOf(after)]
  const start = commonLength(one, other, (words, at) => words[at])
  const rest = [one.slice(start), other.slice(start)] as const
  const end = commonLength(...rest, (words, at) => words[words.length - 1 - at])
  const middle = [
    one.slice(start, one.length - end),
    other.slice(start, other.length - end),
  ] as const
  const common = commonWords(...middle)
  const pieces = (
    words: readonly string[],
    changed: readonly string[],
    kept: ReadonlySet<number>,
  ) =>
    joined(
      words.map((text, at) => ({
        text,
        isChanged: at >= start && at < start + changed.length && !kept.has(at - start),
      })),
    )
  return {
    before: pieces(one, middle[0], common.one),
    after: pieces(other, middle[1], common.other),
  }
}

function commonLength(
  one: readonly string[],
  other: readonly string[],
  wordAt: (words: readonly string[], at: number) => string | undefined,
): number {
  const max = Math.min(one.length, other.length)
  let length = 0
  while (length < max && wordAt(one, length) === wordAt(other, length)) length++
  return length
}

/** Indexes of the longest common subsequence of words. */
function commonWords(one: readonly string[], other: readonly string[]) {
  const common = { one: new Set<number>(), other: new Set<number>() }
  if (one.length * other.length > maxPairs) return common
  const width = other.length + 1
  /** Length of the common subsequence from these indexes on. */
  const lengths = new Uint16Array((one.length + 1) * width)
  const lengthAt = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = one.length - 1; row >= 0; row--)
    for (let column = other.length - 1; column >= 0; column--)
      lengths[row * width + column] =
        one[row] === other[column]
          ? lengthAt(row + 1, column + 1) + 1
          : Math.max(lengthAt(row + 1, column), lengthAt(row, column + 1))
  for (let row = 0, column = 0; row < one.length && column < other.length; ) {
    if (one[row] === other[column]) {
      common.one.add(row++)
      common.other.add(column++)
    } else if (lengthAt(row + 1, column) >= lengthAt(row, column + 1)) row++
    else column++
  }
  return common
}

/** Merges neighbours of the same kind. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  for (const { text, isChanged } of pieces) {
    const last = all.at(-1)
    if (last?.isChanged === isChanged) all[all.length - 1] = { text: last.text + text, isChanged }
    else all.push({ text, isChanged })
  }
  return all
}
