import packageJson from '../../../package.json' with { type: 'json' }
import { usualServerName } from '../../cli/config/install.ts'
import { clients } from '../../cli/install/clients.ts'
import { cursorQuery, stepsToAdd } from '../../cli/install/server-entry.ts'

/*
 * Links that add the published package to an editor. The editor shows what it is about to add, and
 * asks. The entries are those that `install` writes.
 */

const name = usualServerName
const launch = { command: 'npx', args: ['-y', packageJson.name], env: {} }

/** An editor with an address on the web that opens it and adds a server. */
interface Editor {
  readonly title: string
  readonly link: string
}

const editors: readonly Editor[] = [
  { title: 'VS Code', link: vsCodeButtonLink() },
  { title: 'VS Code Insiders', link: vsCodeButtonLink({ quality: 'insiders' }) },
  { title: 'Cursor', link: cursorButtonLink() },
]

/** A button for each editor, as Markdown of a document in docs/. */
export const installButtons = (): string =>
  editors
    .map(({ title, link }) => `[![Install in ${title}](${buttonFile(title)})](${link})`)
    .join('\n')

/** The pictures of the buttons, by their paths. */
export const buttonPictures = (): Record<string, string> =>
  Object.fromEntries(editors.map(({ title }) => [`docs/${buttonFile(title)}`, picture(title)]))

const buttonFile = (title: string) => `install-in-${title.toLowerCase().replaceAll(' ', '-')}.svg`

/**
 * VS Code reads the parameters as JSON. It asks for address and key when the server starts first, and
 * keeps the key where it keeps secrets. Both left empty: the server runs on its sandbox.
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
  // A plus sign means a space in forms only.
  return `https://insiders.vscode.dev/redirect/mcp/install?${query}`.replaceAll('+', '%20')
}

/** Cursor asks for nothing, so the server runs on its sandbox. */
function cursorButtonLink(): string {
  const { entry } = added('cursor', undefined)
  return `https://cursor.com/en/install-mcp?${cursorQuery(name, entry)}`
}

/** What `install` would add to an empty file of a client. */
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
