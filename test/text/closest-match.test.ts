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

  test('is undefined if more than a third of the letters differ', () => {
    expect(closestWord('colour', ['agent_id', 'limit', 'offset'])).toBeUndefined()
  })

  test('is found in a short word with two letters in the wrong order', () => {
    expect(closestWord('prot', ['port', 'host'])).toBe('port')
    expect(closestWord('porx', ['port'])).toBe('port')
    expect(closestWord('tpro', ['port'])).toBeUndefined()
  })

  test('is undefined if two words begin or end alike', () => {
    expect(closestWord('id', ['agent_id', 'trunk_id'])).toBeUndefined()
  })

  test('is undefined for a text that is too long for a typo', () => {
    const long = 'x'.repeat(300)
    expect(closestWord(`${long}y`, [long])).toBeUndefined()
    expect(closestWord(`${long.slice(0, 100)}y`, [long.slice(0, 100)])).toBeDefined()
  })

  test('is the word that differs only in case and punctuation', () => {
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

  test('are found by id or name, closest first', () => {
    expect(closestItems('front dest', items).map(itemLabel)).toEqual(['Front desk (a1)'])
    expect(closestItems('Front desk', items).map(({ id }) => id)).toEqual(['a1', 'c3'])
    expect(closestItems('b2', items).map(itemLabel)).toEqual(['Back office (b2)'])
  })

  test('are at most three', () => {
    const desks = [1, 2, 3, 4].map((at) => ({ id: `d${at}`, names: [`Front desk ${at}`] }))
    expect(closestItems('Front desk', desks)).toEqual(desks.slice(0, 3))
  })

  test('are labelled with their id if they have no name', () => {
    expect(itemLabel({ id: 'd4', names: [null, 'd4'] })).toBe('d4')
  })
})
