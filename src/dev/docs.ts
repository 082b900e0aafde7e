import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commands, settings } from '../cli/commands/index.ts'
import { configFileSchema } from '../cli/config/config-file.ts'
import { settingHelp } from '../cli/config/setting.ts'
import { settingGroups } from '../cli/help.ts'
import { magicDestinations } from '../sandbox/call-plan.ts'
import { sandboxKeys } from '../sandbox/seed.ts'
import { adviceTable, kindTable } from './docs-errors.ts'
import { buttonPictures, installButtons } from './docs-install-buttons.ts'
import { toolList, toolReference } from './docs-reference.ts'
import { code, table, withSections } from './markdown.ts'
import { installOptions } from './release/install-options.ts'

/*
 * npm run docs: writes the generated sections of the documents, between markers. With --check, only
 * reports outdated files.
 */

const root = join(import.meta.dirname, '../..')

/** Tables of all settings, one for each group of the help. */
const settingTables = (): string =>
  settingGroups(commands)
    .map(
      ({ title, names }) =>
        `### ${title}\n\n${table(['Flag', 'Variable', 'Meaning', 'Commands'], names.map(settingRow))}`,
    )
    .join('\n\n')

function settingRow(name: string): string[] {
  const setting = settings[name]
  if (!setting) throw new Error(`There is no setting ${name}.`)
  return [
    code(`--${name} ${setting.value}`.trim()),
    setting.variable === undefined ? 'none' : code(setting.variable),
    settingHelp(setting),
    commands
      .filter((command) => name in command.settings)
      .map((command) => command.name)
      // `config` and `doctor` read the settings of all commands.
      .filter(
        (command, _, all) =>
          !['config', 'doctor'].includes(command) ||
          setting.variable === undefined ||
          all.length === 1,
      )
      .join(', '),
  ]
}

/** Numbers with a fixed outcome in simulated calls. */
const destinationTable = (): string =>
  table(
    ['Call this', 'and it is'],
    Object.entries(magicDestinations).map(([number, { about }]) => [code(number), about]),
  )

const sandboxKeyTable = (): string =>
  table(
    ['Key', 'Account'],
    [
      [code(sandboxKeys.main), 'the seeded account; MCP uses it for requests without a key'],
      [code(sandboxKeys.subaccount), 'its subaccount'],
      [code(sandboxKeys.other), 'an unrelated account'],
    ],
  )

/** JSON Schema of configuration files, as text. */
const configSchemaText = (): string =>
  `${JSON.stringify(configFileSchema(settings), undefined, 2)}\n`

/** Options that desktop clients ask for on installation. */
const installOptionTable = (): string =>
  table(
    ['Option', 'Setting', 'Meaning'],
    Object.values(installOptions).map(({ title, variable, description }) => [
      title,
      code(variable),
      description,
    ]),
  )

/** Generated sections of each document. */
const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': { tools: toolList() },
  'docs/configuration.md': { settings: settingTables() },
  'docs/errors.md': { kinds: kindTable(), advice: adviceTable() },
  'docs/install.md': { buttons: installButtons(), options: installOptionTable() },
  'docs/sandbox.md': { destinations: destinationTable(), keys: sandboxKeyTable() },
}

/** Files that are generated as a whole. */
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

/** Writes a changed file, or reports it as outdated. */
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
