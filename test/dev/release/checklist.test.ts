import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { runSteps } from '../../../src/dev/release/preparation.ts'

test('each step is said, and nothing is done after one that fails', async () => {
  let text = ''
  const results = await runSteps(
    [
      { title: 'First', run: () => ({ state: 'done', text: 'yes' }) },
      { title: 'Second', run: async () => ({ state: 'open', text: 'a\nb' }) },
      { title: 'Third', run: () => Promise.reject(new Error('broken')) },
      { title: 'Fourth', run: () => ({ state: 'done', text: 'yes' }) },
    ],
    (line) => {
      text += stripVTControlCharacters(line)
    },
  )
  expect(results).toEqual(['done', 'open', 'failed'])
  expect(text).toBe('✓ First: yes\n! Second: a\n  b\n✗ Third: broken\n')
})
