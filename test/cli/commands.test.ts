import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands, settings } from '../../src/cli/commands/index.ts'
import { helpText } from '../../src/config/help.ts'

const folder = join(import.meta.dirname, '../../src/cli/commands')

test('every file of a command has its row in the table', () => {
  const files = readdirSync(folder).filter((file) => !['command.ts', 'index.ts'].includes(file))
  expect(commands.map(({ name }) => `${name}.ts`).toSorted()).toEqual(files.toSorted())
})

test('the help shows each setting with its variable, values and default', () => {
  const lines = helpText(commands, undefined).split('\n')
  for (const [name, { value, variable, range }] of Object.entries(settings)) {
    const line = lines.find((one) => one.startsWith(`  --${name} ${value}`)) ?? ''
    expect(line).toMatch(/^ {2}\S+ ?\S* {2,}\S/)
    if (variable !== undefined) expect(line).toContain(`[${variable}]`)
    expect(line.toLowerCase()).toContain(range.toLowerCase())
  }
})
