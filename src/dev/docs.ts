import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { adviceTable, kindTable } from './docs/errors.ts'
import { buttonPictures, installButtons } from './docs/install-links.ts'
import { withSections } from './docs/markdown.ts'
import {
  configSchemaText,
  destinationTable,
  installOptionTable,
  sandboxKeyTable,
  settingTable,
} from './docs/settings.ts'
import { toolList, toolReference } from './docs/tools.ts'

/*
 * npm run docs: writes the generated parts of the documents, between markers. With --check it only
 * says which files are out of date.
 */

const root = join(import.meta.dirname, '../..')

/** The generated parts of each document. */
const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': { tools: toolList() },
  'docs/configuration.md': { settings: settingTable() },
  'docs/errors.md': { kinds: kindTable(), advice: adviceTable() },
  'docs/install.md': { buttons: installButtons(), options: installOptionTable() },
  'docs/sandbox.md': { destinations: destinationTable(), keys: sandboxKeyTable() },
}

/** Files that are generated whole. */
const wholeFiles = {
  'docs/config.schema.json': configSchemaText(),
  'docs/tools-reference.md': toolReference(),
  ...buttonPictures(),
}

const isCheck = process.argv.includes('--check')
for (const [file, sections] of Object.entries(documents)) {
  const current = readFileSync(join(root, file), 'utf8')
  write(file, current, withSections(file, current, sections))
}
for (const [file, text] of Object.entries(wholeFiles)) {
  const path = join(root, file)
  write(file, existsSync(path) ? readFileSync(path, 'utf8') : '', text)
}

/** Writes a file that has changed, or says that it is out of date. */
function write(file: string, current: string, updated: string): void {
  if (updated === current) return
  if (isCheck) {
    process.stderr.write(`${file} is out of date: run npm run docs.\n`)
    process.exitCode = 1
    return
  }
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), updated)
}
