import { expect, test } from 'vitest'
import { resultText } from '../../../src/cli/terminal/result-text.ts'

const shown = (data: Record<string, unknown>, width = Number.POSITIVE_INFINITY) =>
  resultText(JSON.stringify(data), data, { width, styled: (_, text) => text })

const agents = {
  items: [
    { id: 'a-1', name: 'Shop', tags: ['x', 'y'], model: { model: 'm' }, note: null },
    { id: 'a-2', name: '受付', tags: [], model: { model: 'gpt' } },
  ],
  total: 2,
}

test('a list is a table whose columns line up, also under wide characters; then the rest', () => {
  expect(shown(agents)).toBe(
    [
      'id   name  tags  model.model',
      'a-1  Shop  x, y  m',
      'a-2  受付        gpt',
      '',
      'total: 2',
    ].join('\n'),
  )
})

test('a table that is wider than the terminal is shown as fields, with nothing cut off', () => {
  expect(shown(agents, 20)).toBe(
    [
      ...['id: a-1', 'name: Shop', 'tags: x, y', 'model:', '  model: m', ''],
      ...['id: a-2', 'name: 受付', 'model:', '  model: gpt', '', 'total: 2'],
    ].join('\n'),
  )
})

test('several lists have their names, and objects their fields below them', () => {
  expect(
    shown({ numbers: [{ id: 1 }], agents: [{ id: 2 }], is_archived: false, voice: { speed: 1 } }),
  ).toBe(
    [
      'numbers:',
      'id',
      '1',
      '',
      'agents:',
      'id',
      '2',
      '',
      'is_archived: false',
      'voice:',
      '  speed: 1',
    ].join('\n'),
  )
})

test('lists within objects are items with a hyphen, and a long text cannot forge a field', () => {
  expect(shown({ one: { calls: [{ id: 1, to: 'x' }, { id: 2 }] }, prompt: 'Hi\nid: forged' })).toBe(
    [
      ...['one:', '  calls:', '    - id: 1', '      to: x', '    - id: 2'],
      ...['prompt:', '  | Hi', '  | id: forged'],
    ].join('\n'),
  )
})

test('texts from outside have no effect on the terminal', () => {
  const evil = '\u001b]0;title\u0007\u001b[2J\u009b31m\r\u202egnp.exe'
  const texts = [
    shown({ items: [{ [evil]: evil }] }),
    shown({ [evil]: { inner: evil }, prompt: `${evil}\n${evil}` }),
    resultText(`Said:\n${evil}`, {}, { width: 80, styled: (_, text) => text }),
  ]
  for (const text of texts) expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
})

test('a text that says more than its data is shown, and where it was cut, what shows all of it', () => {
  const text = 'The call has ended.\nShortened: 3 more lines; structuredContent has all of it.'
  expect(resultText(text, { ended: true }, { width: 80, styled: (_, one) => one })).toMatch(
    /^The call has ended\.\nShortened: 3 more lines; --json [^\n]+$/,
  )
})
