import { expect, test } from 'vitest'
import { withNote } from '../../../src/mcp/call/success-result.ts'

test('a note is in the data after the others, and in the text where that is lines', () => {
  const structured = { note: 'One.', items: [] }
  expect(withNote({ structured }, 'Two.')).toEqual({
    structured: { note: 'One. Two.', items: [] },
  })
  expect(withNote({ structured, lines: ['a line'] }, 'Two.')).toEqual({
    structured: { note: 'One. Two.', items: [] },
    lines: ['a line', 'Two.'],
  })
  expect(withNote({ structured, lines: ['a line'] }, undefined).lines).toEqual(['a line'])
})
