import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commands, settings } from '../../src/cli/commands/index.ts'
import { parseCommandLine } from '../../src/cli/config/command-line.ts'
import { helpText } from '../../src/cli/help.ts'
import { blocksOf, documents, read } from '../docs/documents.ts'

const folder = join(import.meta.dirname, '../../src/cli/commands')

const names = commands.map(({ name }): string => name)

test('every file of a command has its row in the table, and every row its file', () => {
  const files = readdirSync(folder).filter((file) => !['command.ts', 'index.ts'].includes(file))
  const fileOf = (name: string) => (name === 'uninstall' ? 'install.ts' : `${name}.ts`)
  expect(new Set(names.map(fileOf))).toEqual(new Set(files))
})

test('the documents name every command, and no other', () => {
  const inCode = documents.flatMap((file) => [
    ...(read(file).match(/`voice-agent-mcp [a-z]+/g) ?? []),
    ...blocksOf(file).flatMap(({ text }) => text.match(/\bvoice-agent-mcp [a-z]+/g) ?? []),
  ])
  // The first command is the default: the documents run it as `voice-agent-mcp` alone.
  const [usual, ...others] = names
  expect(new Set(inCode.map((code) => code.split(' ')[1]))).toEqual(
    new Set([...others, 'help', 'version']),
  )
  expect(read('docs/configuration.md')).toMatch(new RegExp(`\`voice-agent-mcp\` .*\`${usual}\``))
})

const help = (about: string | undefined, wantsAll: boolean, width?: number) =>
  helpText(commands, { about, wantsAll, width })

const topics = [...names, undefined]

test('the help fits on a screen', () => {
  for (const name of topics) {
    const lines = help(name, false).trimEnd().split('\n')
    expect(lines.length, name).toBeLessThanOrEqual(28)
    expect(Math.max(...lines.map(({ length }) => length)), name).toBeLessThanOrEqual(100)
  }
  expect(help(undefined, false).trimEnd().split('\n').length).toBeLessThanOrEqual(25)
})

test('the help begins with the first steps, and names every command', () => {
  const text = help(undefined, false)
  expect(text).toMatch(/^Usage: .*\n.*\n\nFirst steps:\n {2}voice-agent-mcp tools /)
  for (const { name } of commands)
    expect(text).toMatch(new RegExp(`^ +(voice-agent-mcp )?${name} `, 'm'))
})

test('the help of a command shows what is its own, and how to see every option', () => {
  expect(help('http', false)).toMatch(/^ {2}--port PORT /m)
  expect(help('http', false)).not.toContain('--max-rate')
  expect(help('http', false)).toMatch(/\n {2}voice-agent-mcp http --help all\n$/)
  expect(help('audit', false)).toMatch(/^ {2}--since TIME /m)
})

test('the help with every option has each of a command once, and no other', () => {
  for (const { name, settings } of commands) {
    const shown = help(name, true).matchAll(/^ {2}--(\S+)/gm)
    expect([...shown].map(([, flag]) => flag).sort(), name).toEqual(Object.keys(settings).sort())
  }
})

test('the help shows each setting with its variable, values and default', () => {
  const lines = help(undefined, true).split('\n')
  for (const [name, { value, variable, range }] of Object.entries(settings)) {
    const line = lines.find((one) => one.startsWith(`  --${name} ${value}`)) ?? ''
    expect(line).toMatch(/^ {2}\S+ ?\S* {2,}\S/)
    if (variable !== undefined) expect(line).toContain(`[${variable}]`)
    expect(line.toLowerCase()).toContain(range.toLowerCase())
  }
})

test('the help breaks lines between words, and loses none of them', () => {
  for (const name of topics) {
    // Examples are left out: the help moves the explanation of a wrapped example behind a `#`.
    const words = (wantsAll: boolean, width?: number) =>
      help(name, wantsAll, width)
        .replace(/(?<=(Examples|First steps):\n).*?\n\n/s, '')
        .split(/\s+/)
    for (const all of [true, false]) {
      expect(words(all, 70)).toEqual(words(all))
      expect(words(all, 30)).toEqual(words(all))
    }
  }
})

test('the help of each command has examples, which begin with its name', () => {
  for (const { name, examples = [] } of commands) {
    expect(examples.length, name).toBeGreaterThan(0)
    for (const example of examples) expect(example.split(' ')[0]).toBe(name)
  }
})

test('the examples in the help can be run', () => {
  for (const example of commands.flatMap(({ examples = [] }) => examples)) {
    // Two spaces separate an example from its explanation.
    const [command = ''] = example.split(/ {2,}/)
    const readable = () => parseCommandLine(command.split(' '), commands, commands[0])
    expect(readable, command).not.toThrow()
  }
})
