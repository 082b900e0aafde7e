import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Piece, wordChanges } from '../../../../src/apps/browser/agent/word-changes.ts'
import { tries } from '../../../harness/property.ts'

const textOf = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('')
const sameOf = (pieces: readonly Piece[]) => textOf(pieces.filter(({ isChanged }) => !isChanged))
const changedOf = (pieces: readonly Piece[]) =>
  pieces.filter(({ isChanged }) => isChanged).map(({ text }) => text)

describe('the words of two texts that differ', () => {
  test.each([
    ['one word', 'How can I help?', 'How may I help?', ['can'], ['may']],
    ['at both ends', 'a b c d', 'x b c y', ['a', 'd'], ['x', 'y']],
    ['in the middle', 'a b c', 'a c', ['b '], []],
    ['everything', 'one', 'two', ['one'], ['two']],
    ['nothing', 'same', 'same', [], []],
    ['a letter with an accent is no end of a word', 'café noir', 'café blanc', ['noir'], ['blanc']],
  ])('%s', (_, before, after, gone, added) => {
    const changes = wordChanges(before, after)
    expect(changedOf(changes.before)).toEqual(gone)
    expect(changedOf(changes.after)).toEqual(added)
  })

  test('keep both texts whole, and what is not marked is the same in both', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'é', ' ', '\n', '{{', '😀', 'word'))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changes = wordChanges(before, after)
        expect(textOf(changes.before)).toBe(before)
        expect(textOf(changes.after)).toBe(after)
        expect(sameOf(changes.before)).toBe(sameOf(changes.after))
      }),
      tries(100),
    )
  })

  test('of texts too long to compare word by word are those between the same ends', () => {
    const long = (word: string) => `start ${`${word} x `.repeat(2000)}end`
    const changes = wordChanges(long('a'), long('b'))
    expect(changes.before.map(({ isChanged }) => isChanged)).toEqual([false, true, false])
    expect(textOf(changes.after)).toBe(long('b'))
  })
})
