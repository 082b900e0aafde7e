import { createHash } from 'node:crypto'

/** Random numbers from 0 to 1, determined by the words (mulberry32). */
export function randomOf(...words: (string | number)[]): () => number {
  let state = createHash('sha256').update(words.join(' ')).digest().readInt32LE()
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A random item. Probabilities are proportional to the weights. */
export function pick<T extends { weight: number }>(items: readonly T[], random: () => number): T {
  let left = random() * items.reduce((sum, { weight }) => sum + weight, 0)
  const found = items.find(({ weight }) => {
    left -= weight
    return left < 0
  })
  if (!found) throw new Error('There is nothing to pick from')
  return found
}

/** A random item. All are equally likely. */
export const oneOf = <T>(values: readonly T[], random: () => number): T =>
  pick(
    values.map((value) => ({ weight: 1, value })),
    random,
  ).value
