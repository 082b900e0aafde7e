import { expect, test } from 'vitest'
import * as z from 'zod'
import type { ToolOutput } from '../../src/tool/tool.ts'
import { successResult } from '../../src/tool/tool-result.ts'

const resultWith = (note: string | undefined, output: ToolOutput) =>
  successResult({ output: () => z.looseObject({}), shortening: undefined }, output, {
    ...{ request: { params: {}, query: {} }, account: undefined, ignoredNulls: [], note },
  })

test('a note is in the data after the others, and in the text where that is lines', () => {
  const structured = { note: 'One.', items: ['a'] }
  expect(resultWith('Two.', { structured })).toEqual({
    structuredContent: { note: 'One. Two.', items: ['a'] },
    content: [{ type: 'text', text: '{"note":"One. Two.","items":["a"]}' }],
  })
  expect(resultWith('Two.', { structured, lines: ['a line'] })).toEqual({
    structuredContent: { note: 'One. Two.', items: ['a'] },
    content: [{ type: 'text', text: 'a line\nTwo.' }],
  })
  expect(resultWith(undefined, { structured, lines: ['a line'] }).content).toEqual([
    { type: 'text', text: 'a line' },
  ])
})
