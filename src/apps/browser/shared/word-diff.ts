/** A piece of a word diff: unchanged, removed or added text. */
export interface Piece {
  readonly text: string
  readonly change: 'none' | 'removed' | 'added'
}

/** Maximum compared pairs of words; of longer texts only the common prefix and suffix are found. */
const maxPairs = 1_000_000

const wordsOf = (text: string) => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|./gsu) ?? []

/**
 * Word diff of two texts by their longest common subsequence. Without the added pieces it is the
 * text before, without the removed ones the text after.
 */
export function wordDiff(before: string, after: string): Piece[] {
  const [one, other] = [wordsOf(before), wordsOf(after)]
  const start = commonLength(one, other, (words, at) => words[at])
  const rest = [one.slice(start), other.slice(start)] as const
  const end = commonLength(...rest, (words, at) => words[words.length - 1 - at])
  const pieces: Piece[] = [
    { text: one.slice(0, start).join(''), change: 'none' },
    ...middlePieces(one.slice(start, one.length - end), other.slice(start, other.length - end)),
    { text: one.slice(one.length - end).join(''), change: 'none' },
  ]
  return withWholePhrases(pieces)
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

function middlePieces(one: readonly string[], other: readonly string[]): Piece[] {
  const common = commonWords(one, other)
  const pieces: Piece[] = []
  for (let from = 0, to = 0; from < one.length || to < other.length; ) {
    if (from < one.length && !common.one.has(from))
      pieces.push({ text: one[from++] ?? '', change: 'removed' })
    else if (to < other.length && !common.other.has(to))
      pieces.push({ text: other[to++] ?? '', change: 'added' })
    else {
      pieces.push({ text: one[from++] ?? '', change: 'none' })
      to++
    }
  }
  return pieces
}

/** Indexes of the longest common subsequence of words. */
function commonWords(one: readonly string[], other: readonly string[]) {
  const common = { one: new Set<number>(), other: new Set<number>() }
  if (one.length * other.length > maxPairs) return common
  const width = other.length + 1
  /**
   * `lengths[row * width + column]`: length of the longest common subsequence of `one` from index
   * `row` and `other` from index `column`.
   */
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

/**
 * Merges changed words that only spaces or punctuation separate, so that a changed phrase is
 * removed and added as a whole.
 */
function withWholePhrases(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  let phrase = { removed: '', added: '' }
  let between = ''
  const flush = () => {
    if (phrase.removed) all.push({ text: phrase.removed, change: 'removed' })
    if (phrase.added) all.push({ text: phrase.added, change: 'added' })
    if (between) all.push({ text: between, change: 'none' })
    phrase = { removed: '', added: '' }
    between = ''
  }
  for (const { text, change } of pieces) {
    const isInPhrase = phrase.removed !== '' || phrase.added !== ''
    if (change === 'none') {
      between += text
      if (isInPhrase && !/^[^\p{L}\p{M}\p{N}\n]*$/u.test(between)) flush()
      continue
    }
    if (isInPhrase) {
      phrase = { removed: phrase.removed + between, added: phrase.added + between }
      between = ''
    } else flush()
    phrase[change] += text
  }
  flush()
  return merged(all)
}

/** Merges neighbours of the same kind. */
function merged(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = []
  for (const { text, change } of pieces) {
    const last = all.at(-1)
    if (last?.change === change) all[all.length - 1] = { text: last.text + text, change }
    else all.push({ text, change })
  }
  return all
}
