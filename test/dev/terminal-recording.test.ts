import { readFileSync, statSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  file,
  hasTerminal,
  record,
  rowsIn,
  rowsOf,
  scenes,
} from '../../src/dev/terminal-recording.ts'
import { blocksOf, root } from '../docs/documents.ts'
import { freePort } from '../harness/program.ts'

const svg = readFileSync(file, 'utf8')

/** True for a line that only a fresh clone prints. */
const isOfFreshClone = (row: string) => /^added \d+ packages|^dist\/.* and its parts/.test(row)

test.skipIf(!hasTerminal())(
  'the recording of the first minute shows what its commands print today (npm run recording)',
  { timeout: 60_000 },
  async () => {
    const today = await record(root, { port: await freePort(), isInstalled: true })
    const same = (rows: string[]) => rows.filter((row) => row !== '' && !isOfFreshClone(row))
    expect(rowsIn(svg).map(same)).toEqual(today.map(rowsOf).map(same))
  },
)

test('it begins as the README does, and shows a call that a person has agreed to', () => {
  const [start, call, install] = rowsIn(svg)
  expect(blocksOf('README.md').map(({ text }) => text)).toContain(scenes[0]?.command)
  expect(start).toContain(`$ ${scenes[0]?.command}`)
  expect(start?.filter(isOfFreshClone)).toHaveLength(2)
  expect(start?.join('\n')).toContain('http://127.0.0.1:3000/mcp')
  expect(call?.join('\n')).toMatch(/\[y\/N\] y$[\s\S]*completed/m)
  expect(install?.join('\n')).toContain('"voice-agents": {')
})

test('it is small, well-formed and of no machine', () => {
  expect(statSync(file).size).toBeLessThan(60_000)
  expect(svg).not.toMatch(/\/(?:root|tmp|work|Users)\//)
  expect(svg).not.toMatch(/\/home\/(?!you\/)/)
  // A static picture: no scripts, no external resources.
  expect(svg).not.toMatch(/<script|<image|<foreignObject|@import|url\(/)
  expect(svg).toMatch(/prefers-color-scheme:dark/)
  expect(svg).toMatch(/prefers-reduced-motion:no-preference/)
})
