import { expect, test } from 'vitest'
import { shownChange } from '../../../src/cli/install/change-client.ts'
import { changedText } from '../../../src/cli/install/config-text-edits.ts'
import { jsonWithComments } from '../../../src/cli/install/json-format.ts'

test('what several steps make of an empty file is shown as one text', () => {
  const changed = changedText(jsonWithComments, '', [
    { set: ['inputs', 0], value: { id: 'key' } },
    { set: ['servers', 'ours'], value: { key: 'sk-secret' } },
  ])
  const lines = shownChange(changed, ['sk-secret'])
  const shown = lines.slice(1).map((line) => line.slice(1))
  expect(lines[0]).toBe('@@ line 1 @@')
  expect(`${shown.join('\n')}\n`).toBe(changed.text.replace('sk-secret', '(not shown)'))
})
