import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { adviceTable, kindTable } from './docs/errors.ts'
import { withSections } from './docs/markdown.ts'
import { destinationTable, sandboxKeyTable, settingTable } from './docs/settings.ts'
import { toolList, toolReference } from './docs/tools.ts'

/*
 * npm run docs: writes the generated parts of the documents, between markers. With --check it only
 * says which documents are out of date.
 */

const root = join(import.meta.dirname, '../..')

/** The generated parts of each document. */
const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': { tools: toolList() },
  'docs/configuration.md': { settings: settingTable() },
  'docs/errors.md': { kinds: kindTable(), advice: adviceTable() },
  'docs/sandbox.md': { destinations: destinationTable(), keys: sandboxKeyTable() },
  'docs/tools.md': { reference: toolReference() },
}

const isCheck = process.argv.includes('--check')
for (const [file, sections] of Object.entries(documents)) {
  const path = join(root, file)
  const current = readFileSync(path, 'utf8')
  const updated = withSections(file, current, sections)
  if (updated === current) continue
  if (isCheck) {
    process.stderr.write(`${file} is out of date: run npm run docs.\n`)
    process.exitCode = 1
  } else writeFileSync(path, updated)
}
