import { usualServerName } from '../cli/commands/install.ts'
import { packageId } from '../cli/config/launch-command.ts'
import { clients } from '../cli/install/clients.ts'
import { cursorQuery, stepsToAdd } from '../cli/install/server-entry.ts'

const name = usualServerName
const launch = { command: 'npx', args: ['-y', packageId], env: {} }

/**
 * Editors and their install links. An editor shows the server entry, the same as `install` writes,
 * and asks before adding it.
 */
const editors = [
  { title: 'VS Code', link: vsCodeButtonLink() },
  { title: 'VS Code Insiders', link: vsCodeButtonLink({ quality: 'insiders' }) },
  { title: 'Cursor', link: cursorButtonLink() },
]

/** Install buttons of all editors, as Markdown for a document in docs/. */
export const installButtons = (): string =>
  editors
    .map(({ title, link }) => `[![Install in ${title}](${buttonFile(title)})](${link})`)
    .join('\n')

/** Pictures of the buttons, by path. */
export const buttonPictures = (): Record<string, string> =>
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
    description: 'URL of the voice-agent platform; leave URL and key empty for the sandbox',
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
