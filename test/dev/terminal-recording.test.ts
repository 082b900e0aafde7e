import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import { file, hasTerminal, record, rowsIn } from '../../src/dev/terminal-recording.ts'

const svg = readFileSync(file, 'utf8')

test.skipIf(!hasTerminal())(
  'the picture of a call shows what the command prints today (npm run recording)',
  async () => {
    expect(rowsIn(svg)).toEqual(await record())
  },
)

test('the picture shows a call that a person has confirmed', () => {
  expect(rowsIn(svg).join('\n')).toMatch(/\[y\/N\] y$[\s\S]*completed/m)
})

test('the picture is small and well-formed, and names no machine', () => {
  expect(statSync(file).size).toBeLessThan(20_000)
  expect(svg).not.toMatch(/\/(?:root|tmp|work|Users)\//)
  expect(svg).not.toMatch(/\/home\/(?!you\/)/)
  // A static picture: no scripts, no external resources.
  expect(svg).not.toMatch(/<script|<image|<foreignObject|@import|url\(/)
  expect(svg).toMatch(/prefers-color-scheme:dark/)
})
