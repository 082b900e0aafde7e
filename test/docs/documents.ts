import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Every document that people read, by its path from the root of the repository. */
export const documents: readonly string[] = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('docs/*.md', { cwd: root }),
  'docs/examples/README.md',
  'src/jinja/README.md',
].sort()

export const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** A fenced block of a document. */
export interface Block {
  readonly file: string
  /** The line of its fence, from 1. */
  readonly line: number
  /** The word after the fence, such as sh. */
  readonly language: string
  readonly text: string
}

/** The fenced blocks of a document, in order; those in lists without their indentation. */
export function blocksOf(file: string): Block[] {
  const document = read(file)
  return [...document.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: text = '' }) => ({
      file,
      line: document.slice(0, index).split('\n').length,
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim(),
    }),
  )
}

/** What stands in backticks in the first cell of each row of a table under a heading. */
export function firstColumn(file: string, heading: string): string[] {
  return rowsUnder(file, heading).map(([first = '']) => first.replaceAll('`', ''))
}

/** The rows of the tables under a heading, without their heads, as cells. */
export function rowsUnder(file: string, heading: string): string[][] {
  const [, section] = read(file).split(new RegExp(`^## ${heading}$`, 'm'))
  if (section === undefined) throw new Error(`${file} has no heading ${heading}`)
  const [own = ''] = section.split(/^## /m)
  return [...own.matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = '']) => row.split(/(?<!\\) \| /))
    .filter((cells, index, all) => !isRule(cells) && !isRule(all[index + 1] ?? []))
}

const isRule = (cells: readonly string[]) =>
  cells.length > 0 && cells.every((cell) => /^-+$/.test(cell))
