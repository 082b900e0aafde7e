import { expect, test } from 'vitest'
import { fitsTokens } from '../../../src/text/tokens.ts'
import { resultBudget } from '../../../src/tool/results/shortening.ts'
import { callListLines, type ListedCall } from '../../../tools/calls/call-list-result.ts'

const listed = (count: number): ListedCall[] =>
  Array.from({ length: count }, (_, at) => ({
    to_number: `+1202555${1000 + at}`,
    outcome: 'placed',
    call_id: `5b6c8a1e-5d0e-4f43-9a67-0c55d7f0${1000 + at}`,
    state: at % 2 === 0 ? 'answered' : 'not_answered',
    duration_seconds: at,
    ...(at % 2 === 0 && { last_words: 'Yes, that suits me well, thank you. '.repeat(3) }),
  }))

test('a list is shown with the id of each call that was answered', () => {
  const lines = callListLines(listed(2))
  expect(lines[0]).toMatch(/^[\w ]+: \+12025551000 \(call_id 5b6c[\w-]+, 0 s\)$/)
  expect(lines[1]).toMatch(/^[\w ]+: \+12025551001$/)
})

test('the longest list is shown with all its numbers, and says where the ids are', () => {
  const calls = listed(100)
  const text = callListLines(calls).join('\n')
  expect(fitsTokens(text, resultBudget)).toBe(true)
  for (const { to_number } of calls) expect(text).toContain(to_number)
  expect(text).toMatch(/call_id.*structuredContent.*list_calls/)
  expect(text).not.toContain('5b6c8a1e-5d0e')
})

const call = (to_number: string, more: Partial<ListedCall> = {}): ListedCall => ({
  to_number,
  outcome: 'placed',
  ...more,
})

test('calls to one number are told apart by their place in the list', () => {
  const calls = [
    call('+12025550101', { state: 'busy', call_id: 'a' }),
    call('+12025550102', { state: 'busy', call_id: 'b' }),
    call('+12025550101', { state: 'answered', call_id: 'c', last_words: 'Yes' }),
  ]
  const lines = callListLines(calls)
  expect(lines[0]).toMatch(/: \+12025550101 \[call 3\] \(call_id c\)$/)
  expect(lines[1]).toMatch(/: \+12025550101 \[call 1\], \+12025550102$/)
  expect(lines).toContain('+12025550101 [call 3] user: Yes')
})

test('also in a long list, where numbers stand alone', () => {
  const calls = Array.from({ length: 30 }, (_, at) => call(`+1202555${1000 + (at % 29)}`))
  const [line] = callListLines(calls)
  expect(line).toMatch(
    /^placed: \+12025551000 \[call 1\], \+12025551001, .*\+12025551000 \[call 30\]$/,
  )
})
