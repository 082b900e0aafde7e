import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')

/** Paths of all documents for people, from the root of the repository. */
export const documents: readonly string[] = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('docs/*.md', { cwd: root }),
  'docs/examples/README.md',
  'src/jinja/README.md',
].sort()

export const read = (file: string) => readFileSync(join(root, file), 'utf8')

/** A fenced code block of a document. */
export interface Block {
  readonly file: string
  /** Line number of the opening fence, from 1. */
  readonly line: number
  /** Language after the opening fence, such as `sh`. */
  readonly language: string
  readonly text: string
}

/** All fenced code blocks of a document. Blocks in lists lose their indentation. */
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

/** First cells of the tables under a heading, without backticks. */
export function firstColumn(file: string, heading: string): string[] {
  return rowsUnder(file, heading).map(([first = '']) => first.replaceAll('`', ''))
}

/** Cells of all table rows under a heading, without header rows. */
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
