import { globSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { mayImport } from './table.ts'

/*
 * npm run imports [-- FOLDER]: checks the imports of src/, tools/, test/ and docs/examples/ against
 * table.ts, including dynamic imports and imports of types. Biome refuses circular imports
 * (`noImportCycles`).
 */

const codeFiles = '{src,tools,test,docs/examples}/**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs,css}'

/** `from './x.ts'`, `import './x.ts'` and `import('./x.ts')`, as Biome formats them. */
const importOf = /\b(?:from|import)[\s(]+'(\.{1,2}\/[^']+)'/g

/** All violations of the table in a folder; empty if there are none. */
export function importProblems(root: string): string[] {
  const files = globSync(codeFiles, { cwd: root, exclude: ['**/node_modules/**'] })
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
  const rowOf = new Map(files.map((file) => [file, rowFor(file)]))
  const used = new Set(rowOf.values())
  return [
    ...rowsOutOfOrder(),
    ...rows.filter((row) => !used.has(row)).map((row) => `${row} has no file`),
    ...files
      .filter((file) => rowOf.get(file) === undefined)
      .map((file) => `${file} is in no row of the table`),
    ...files.flatMap((file) =>
      importsOf(root, file)
        .filter((to) => rowOf.has(to) && !isAllowed(rowOf.get(file), rowOf.get(to)))
        .map((to) => `${file} → ${to}: the table does not allow this import`),
    ),
  ]
}

const rows = Object.keys(mayImport)

/** The row with the longest matching name; `undefined` if no row matches. */
function rowFor(file: string): string | undefined {
  const name = file.replace(/^src\//, '').replace(/\.\w+$/, '')
  return rows
    .filter((row) => name === row || name.startsWith(`${row}/`))
    .toSorted((one, other) => other.length - one.length)[0]
}

const importsOf = (root: string, file: string): string[] => [
  ...new Set(
    [...readFileSync(join(root, file), 'utf8').matchAll(importOf)].map(([, to = '']) =>
      posix.join(posix.dirname(file), to),
    ),
  ),
]

/** Files of a row may import each other. */
const isAllowed = (from: string | undefined, to: string | undefined): boolean =>
  from !== undefined && to !== undefined && (from === to || namedBy(from).includes(to))

const namedBy = (row: string): string[] =>
  Object.entries(mayImport)
    .filter(([name]) => name === row)
    .flatMap(([, allowed]) => [allowed].flat().join(' ').split(' '))
    .filter((name) => name !== '')

const rowsOutOfOrder = (): string[] =>
  rows.flatMap((row, place) =>
    namedBy(row)
      .filter((name) => !rows.slice(0, place).includes(name))
      .map((name) => `table.ts: ${row} names ${name}, which is no earlier row`),
  )

if (import.meta.main) {
  const problems = importProblems(process.argv[2] ?? join(import.meta.dirname, '../../..'))
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
}
