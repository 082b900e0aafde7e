import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nameProblems } from '../../src/dev/name-check.ts'
import { scratchFolder } from '../harness/program.ts'

const namesIn = (root: string) => nameProblems(root).map((problem) => problem.split(': ')[1])

test('no name has a refused word', () => {
  expect(nameProblems(join(import.meta.dirname, '../..'))).toEqual([])
})

test('refused words are found in identifiers and file names, and nowhere else', () => {
  using folder = scratchFolder()
  mkdirSync(join(folder.path, 'src'))
  const code = [
    '// The most of an era.',
    'const mostPages = `the most`',
    `const at = { max_at_once: 'era', callsAtOnce: /most/ }`,
    'class Thing { #told = "era" }',
  ]
  writeFileSync(join(folder.path, 'src/take-turns.ts'), code.join('\n'))
  expect(namesIn(folder.path)).toEqual([
    'take-turns.ts',
    'mostPages',
    'callsAtOnce',
    'Thing',
    'told',
  ])
})
