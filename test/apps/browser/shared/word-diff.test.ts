import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Piece, wordDiff } from '../../../../src/apps/browser/shared/word-diff.ts'
import { tries } from '../../../harness/property.ts'

const textOf = (pieces: readonly Piece[], left?: Piece['change']) =>
  pieces
    .filter(({ change }) => change !== left)
    .map(({ text }) => text)
    .join('')
const ofKind = (pieces: readonly Piece[], kind: Piece['change']) =>
  pieces.filter(({ change }) => change === kind).map(({ text }) => text)

describe('the words of two texts that differ', () => {
  test.each([
    ['one word', 'How can I help?', 'How may I help?', ['can'], ['may']],
    ['at both ends', 'a b c d', 'x b c y', ['a', 'd'], ['x', 'y']],
    ['in the middle', 'a b c', 'a c', ['b '], []],
    ['everything', 'one', 'two', ['one'], ['two']],
    ['nothing', 'same', 'same', [], []],
    ['a letter with an accent is no end of a word', 'café noir', 'café blanc', ['noir'], ['blanc']],
    ['a phrase is changed as a whole', 'a red car', 'a very blue car', ['red'], ['very blue']],
    ['a phrase ends with its line', 'one\ntwo', '1\n2', ['one', 'two'], ['1', '2']],
  ])('%s', (_, before, after, gone, added) => {
    const changes = wordDiff(before, after)
    expect(ofKind(changes, 'removed')).toEqual(gone)
    expect(ofKind(changes, 'added')).toEqual(added)
  })

  test('keep both texts whole', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', 'é', ' ', '\n', '{{', '😀', 'word'))
      .map((words) => words.join(''))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const changes = wordDiff(before, after)
        expect(textOf(changes, 'added')).toBe(before)
        expect(textOf(changes, 'removed')).toBe(after)
      }),
      tries(100),
    )
  })

  test('of texts too long to compare word by word are those between the same ends', () => {
    const long = (word: string) => `start ${`${word} x `.repeat(2000)}end`
    const changes = wordDiff(long('a'), long('b'))
    expect(changes.map(({ change }) => change)).toEqual(['none', 'removed', 'added', 'none'])
    expect(textOf(changes, 'removed')).toBe(long('b'))
  })
})
