import { existsSync, globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { read, root, rowsUnder } from './documents.ts'

const architecture = 'docs/architecture.md'

const index = 'docs/code-index.md'

/** Behaviour, file and symbol in each row under a heading. */
const lookupsUnder = (document: string, heading: string) =>
  rowsUnder(document, heading).map(([behaviour = '', link = '', symbol = '']) => ({
    behaviour,
    file: /^\[(.+)\]\(/.exec(link)?.[1] ?? link,
    symbol: symbol.replaceAll('`', ''),
  }))
const lookups = [...read(index).matchAll(/^## (.+)$/gm)].flatMap(([, heading = '']) =>
  lookupsUnder(index, heading),
)
const steps = lookupsUnder(architecture, 'One tool call, step by step')

test('the code index has the behaviours that newcomers look for', () => {
  const wanted = [
    'Retry-After',
    'annotations',
    'confirm_token',
    'Did you mean',
    'untrusted boundary',
    'fields',
    'stdio answers',
  ]
  for (const words of wanted) {
    expect(lookups.filter(({ behaviour }) => behaviour.includes(words))).toHaveLength(1)
  }
})

test.each([...lookups, ...steps])('$behaviour: $symbol is in $file', ({ file, symbol }) => {
  expect(existsSync(join(root, file)), file).toBe(true)
  // A declaration of the symbol, or a table row with this id.
  const declared = new RegExp(
    `\\b(?:function|const|class|interface|type) ${symbol}\\b|\\bid: '${symbol}'`,
  )
  expect(read(file)).toMatch(declared)
})

test('exactly the existing folders are described', () => {
  const named = rowsUnder(architecture, 'Folders').flatMap(([folders = '']) =>
    [...folders.matchAll(/`([^`]+)`/g)].map(([, folder = '']) => folder.replace(/\/$/, '')),
  )
  const folders = globSync('{tools,test,src/*}', { cwd: root, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  const files = globSync('src/*.ts', { cwd: root })
  expect(new Set(named)).toEqual(new Set([...folders, ...files]))
})

test('the files that the documents name exist', () => {
  const files = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root })]
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/`((?:src|test)\/[^`\s<*]+|tools\/[^`\s<*]+\.ts)`/g)].map(
      ([, path = '']) => path,
    ),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([])
})

test('docs/dependencies.md has every package that the program imports, and no other', () => {
  const documented = rowsUnder('docs/dependencies.md', 'What is bundled').flatMap(
    ([packages = '']) => [...packages.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )
  const sources = globSync('{src,tools}/**/*.ts', { cwd: root, exclude: ['src/dev/**'] })
  const imported = sources.flatMap((file) =>
    [...read(file).matchAll(/(?:from |import\()'((?:@[\w-]+\/)?[a-z][\w.-]*)[/']/g)].map(
      ([, name = '']) => name,
    ),
  )
  expect(new Set(documented)).toEqual(new Set(imported))
})
