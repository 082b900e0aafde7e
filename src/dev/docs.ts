import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { commands, settings } from '../cli/commands/index.ts'
import { usualServerName } from '../cli/commands/install.ts'
import { configFileSchema } from '../cli/config/config-file.ts'
import { settingHelp } from '../cli/config/help-layout.ts'
import { packageId } from '../cli/config/program-command.ts'
import { clients } from '../cli/install/clients.ts'
import { cursorQuery } from '../cli/install/remote-entry.ts'
import { stepsToAdd } from '../cli/install/server-entry.ts'
import { magicDestinations } from '../sandbox/call-plan.ts'
import { sandboxKeys } from '../sandbox/small-seed.ts'
import { adviceTable, kindTable } from './docs-errors.ts'
import { toolList, toolReference } from './docs-reference.ts'
import { code, table, withSections } from './markdown.ts'
import { installOptions } from './release/plugins.ts'

/*
 * npm run docs: writes the generated sections of the documents, between markers. With --check, only
 * reports outdated files.
 */

const root = join(import.meta.dirname, '../..')

/** Every setting: flag, variable, meaning, and its commands. */
const settingTable = (): string =>
  table(
    ['Flag', 'Variable', 'Meaning', 'Commands'],
    Object.entries(settings).map(([name, setting]) => [
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
    ]),
  )

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

/*
 * Install links for editors. The editor shows the server entry, the same as `install` writes, and
 * asks before adding it.
 */

const name = usualServerName
const launch = { command: 'npx', args: ['-y', packageId], env: {} }

/** An editor, and the link that opens it and adds the server. */
interface Editor {
  readonly title: string
  readonly link: string
}

const editors: readonly Editor[] = [
  { title: 'VS Code', link: vsCodeButtonLink() },
  { title: 'VS Code Insiders', link: vsCodeButtonLink({ quality: 'insiders' }) },
  { title: 'Cursor', link: cursorButtonLink() },
]

/** Install buttons of all editors, as Markdown for a document in docs/. */
const installButtons = (): string =>
  editors
    .map(({ title, link }) => `[![Install in ${title}](${buttonFile(title)})](${link})`)
    .join('\n')

/** Pictures of the buttons, by path. */
const buttonPictures = (): Record<string, string> =>
  Object.fromEntries(editors.map(({ title }) => [`docs/${buttonFile(title)}`, picture(title)]))

const buttonFile = (title: string) => `install-in-${title.toLowerCase().replaceAll(' ', '-')}.svg`

/**
 * Link that adds the server to VS Code. VS Code asks for URL and key when the server first starts,
 * and stores the key with its secrets. If both are left empty, the server runs on its sandbox. The
 * parameters are JSON.
 */
function vsCodeButtonLink(more: Readonly<Record<string, string>> = {}): string {
  const addressId = `${name}-base-url`
  const { entry, inputs } = added('vscode', `\${input:${addressId}}`)
  const address = {
    type: 'promptString',
    id: addressId,
    description: 'Address of the voice-agent platform; leave address and key empty for the sandbox',
  }
  const query = new URLSearchParams({
    name,
    inputs: JSON.stringify([address, ...inputs]),
    config: JSON.stringify(entry),
    ...more,
  })
  // A plus sign means a space only in forms.
  return `https://insiders.vscode.dev/redirect/mcp/install?${query}`.replaceAll('+', '%20')
}

/**
 * Link that adds the server to Cursor. Cursor asks for no settings, so the server runs on its
 * sandbox.
 */
function cursorButtonLink(): string {
  const { entry } = added('cursor', undefined)
  return `https://cursor.com/en/install-mcp?${cursorQuery(name, entry)}`
}

/** The entry that `install` adds to a client's empty file. */
function added(id: string, baseUrl: string | undefined) {
  const client = clients.find((one) => one.id === id)
  if (!client) throw new Error(`no client ${id}`)
  const steps = stepsToAdd(client, {}, { name, launch, baseUrl, plainKey: undefined })
  const set = steps.flatMap((step) => ('set' in step ? [step] : []))
  const entry = set.find(({ set: [top] }) => top === client.servers)?.value
  const inputs = set.filter(({ set: [top] }) => top === 'inputs').map(({ value }) => value)
  if (entry === undefined) throw new Error(`no entry for ${id}`)
  return { entry, inputs }
}

function picture(title: string): string {
  const label = `Install in ${title}`
  const width = 24 + label.length * 7
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="28" role="img" aria-label="${label}">
  <rect width="${width}" height="28" rx="5" fill="#1f5fbf"/>
  <text x="${width / 2}" y="18.5" fill="#fff" font-family="Segoe UI, Helvetica, Arial, sans-serif" font-size="12.5" text-anchor="middle">${label}</text>
</svg>
`
}

/** Generated sections of each document. */
const documents: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'README.md': { tools: toolList() },
  'docs/configuration.md': { settings: settingTable() },
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
