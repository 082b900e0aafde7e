import { describe, expect, test } from 'vitest'
import { closestItems, closestWord, itemLabel, sameWord } from '../../src/text/closest-match.ts'

describe('the closest word', () => {
  test.each([
    ['agnet_id', 'agent_id'],
    ['AgentId', 'agent_id'],
    ['id', 'agent_id'],
    ['limits', 'limit'],
    ['lmiit', 'limit'],
  ])('to %s is %s', (word, meant) => {
    expect(closestWord(word, ['agent_id', 'limit', 'offset'])).toBe(meant)
  })

  test('is none where more than a third of the letters differ', () => {
    expect(closestWord('colour', ['agent_id', 'limit', 'offset'])).toBeUndefined()
  })

  test('is found in a short word with two letters in the wrong order', () => {
    expect(closestWord('prot', ['port', 'host'])).toBe('port')
    expect(closestWord('porx', ['port'])).toBe('port')
    expect(closestWord('tpro', ['port'])).toBeUndefined()
  })

  test('is none where two words begin or end alike', () => {
    expect(closestWord('id', ['agent_id', 'trunk_id'])).toBeUndefined()
  })

  test('is not looked for where the word is no typo, but a text', () => {
    const long = 'x'.repeat(300)
    expect(closestWord(`${long}y`, [long])).toBeUndefined()
    expect(closestWord(`${long.slice(0, 100)}y`, [long.slice(0, 100)])).toBeDefined()
  })

  test('is the same word where only spelling differs', () => {
    expect(sameWord('voiceId', ['voice_id', 'voice'])).toBe('voice_id')
    expect(sameWord('voice_ids', ['voice_id', 'voice'])).toBeUndefined()
  })
})

describe('the closest items', () => {
  const items = [
    { id: 'a1', names: ['Front desk'] },
    { id: 'b2', names: ['Back office'] },
    { id: 'c3', names: [null, 'Front desk, nights'] },
  ]

  test('are found by id or name, the closest first', () => {
    expect(closestItems('front dest', items).map(itemLabel)).toEqual(['Front desk (a1)'])
    expect(closestItems('Front desk', items).map(({ id }) => id)).toEqual(['a1', 'c3'])
    expect(closestItems('b2', items).map(itemLabel)).toEqual(['Back office (b2)'])
  })

  test('are at most as many as wanted', () => {
    expect(closestItems('Front desk', items, 1)).toHaveLength(1)
  })

  test('without a name are written by their id', () => {
    expect(itemLabel({ id: 'd4', names: [null, 'd4'] })).toBe('d4')
  })
})
