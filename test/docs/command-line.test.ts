import { expect, test } from 'vitest'
import { exitCodes } from '../../src/cli/config/exit-codes.ts'
import { shells } from '../../src/cli/terminal/completion.ts'
import { ownFlags } from '../../src/cli/terminal/tool-arguments.ts'
import { firstColumn, read } from './documents.ts'

test('docs/command-line.md has every exit code, shell and flag of the command', () => {
  const codes = firstColumn('docs/command-line.md', 'What is printed').map(Number)
  expect(codes).toEqual(Object.values(exitCodes))
  const named = firstColumn('docs/command-line.md', 'Completion').map((cell) => cell.split(',')[0])
  expect(named).toEqual([...shells])
  for (const flag of Object.keys(ownFlags))
    expect(read('docs/command-line.md')).toContain(`| \`--${flag}`)
})
