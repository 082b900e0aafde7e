import { copied } from '../apps/pages/copy-buttons.ts'
import { badge, type Html, html } from '../apps/pages/html.ts'
import { usualServerName } from './commands/install.ts'
import { type Access, claudeCommand, headerFlag } from './http-start-message.ts'
import { type Client, clients } from './install/clients.ts'
import { type RemoteInstall, type RemoteServer, remoteInstall } from './install/server-entry.ts'

/* The clients on the start page, those that the visitor probably uses first. */

/** Device and program that show the page, by their user agent. */
export interface Visitor {
  readonly system: NodeJS.Platform
  /** Phones and tablets, on which no client is installed. */
  readonly isPhone: boolean
  /** Whether the system has Claude Desktop. */
  readonly hasClaudeDesktop: boolean
  /** Id of the client in whose own browser the page is open. */
  readonly client: string | undefined
}

export const visitorOf = (userAgent: string): Visitor => ({
  system: /Windows/.test(userAgent) ? 'win32' : /Mac/.test(userAgent) ? 'darwin' : 'linux',
  isPhone: /Android|iPhone|iPad|Mobile/.test(userAgent),
  hasClaudeDesktop: /Windows|Macintosh/.test(userAgent),
  client: ownBrowsers.find(([name]) => name.test(userAgent))?.[1],
})

/** Clients with a browser of their own, which names them in its user agent. */
const ownBrowsers = [
  [/\bCode ?- ?Insiders\/\d/, 'vscode-insiders'],
  [/\bCode\/\d/, 'vscode'],
  [/\bCursor\/\d/, 'cursor'],
  [/\bWindsurf\/\d/, 'windsurf'],
] as const

interface RowsContext {
  readonly access: Access
  readonly visitor: Visitor
  /** Titles of clients that have connected to this process. */
  readonly connected: ReadonlySet<string>
}

/** Clients on a computer with most users, most first. */
const popularClients = ['claude-code', 'cursor', 'vscode', 'codex', 'claude-desktop', 'gemini']

/** Hosted assistants with most users, and where each asks for the address: docs/connectors.md. */
const hostedAssistants = [
  {
    ...{ id: 'claude', title: 'Claude' },
    steps: html`<p>In Claude on the web, open Customize, then Connectors, and add a custom connector with this
address. It is then on all your devices.</p>`,
  },
  {
    ...{ id: 'chatgpt', title: 'ChatGPT' },
    steps: html`<p>In ChatGPT on the web, open Settings, Apps, Advanced settings, and turn on developer mode.
Then create an app with this address and the authentication OAuth.</p>`,
  },
]

/** Maximum number of rows that are shown without unfolding. */
const maxShown = 5

/**
 * Hosted assistants and clients, in the order in which the visitor probably uses them. Phones
 * install no client. Hosted assistants connect with OAuth only.
 */
export function clientRows(
  server: RemoteServer,
  { access, visitor, connected }: RowsContext,
): Html {
  // A server with several users must not tell one user which clients another uses.
  const isOwn = access === 'none' || access === 'local_token'
  const isConnected = ({ title }: Client) => isOwn && connected.has(title)
  const rank = (client: Client): number => {
    if (isConnected(client)) return -2
    if (client.id === visitor.client) return -1
    if (client.id === 'claude-desktop' && !visitor.hasClaudeDesktop) return clients.length
    const place = popularClients.indexOf(client.id)
    return place < 0 ? popularClients.length : place
  }
  const known = clients.map((client) => ({
    ...{ client, install: remoteInstall(client, server), isConnected: isConnected(client) },
    command: commands[client.id]?.(server),
  }))
  const sorted = known.toSorted((one, other) => rank(one.client) - rank(other.client))
  const hosted = access === 'oauth' ? hostedAssistants : []
  // Only a client in whose own browser the page is open comes before the hosted assistants.
  const before = sorted.filter(({ client }) => rank(client) < 0).length
  const all = [...sorted.slice(0, before), ...hosted, ...sorted.slice(before)]
  const rows = all.map((one, index) => {
    const isFirst = index === 0 && !visitor.isPhone
    return 'steps' in one
      ? hostedRow(one, server, isFirst)
      : row(one, server, { hasAddress: access === 'oauth', system: visitor.system, isFirst })
  })
  const shown = visitor.isPhone ? hosted.length : maxShown
  return html`${rows.slice(0, shown)}
<details class="more"><summary>${visitor.isPhone ? 'Steps for each program' : 'More clients'}</summary>
${rows.slice(shown)}
</details>`
}

/** A hosted assistant's name, the button that copies the address, and the steps. */
const hostedRow = (
  { id, title, steps }: (typeof hostedAssistants)[number],
  { url }: RemoteServer,
  isFirst: boolean,
) =>
  foldedRow({
    ...{ id, title },
    details: html`${steps}
${copied(html`<code>${url}</code>`, `the address for ${title}`)}`,
    action: copyAction('Copy address', isFirst),
  })

/** A row: a name that unfolds the details, and an action beside it. */
const foldedRow = ({ id, title, mark, details, action }: FoldedRow) =>
  html`<section class="client" id="${id}" aria-labelledby="name-${id}">
<details>
<summary><h3 id="name-${id}">${title}</h3>${mark}</summary>
${details}
</details>
${action}
</section>`

interface FoldedRow {
  readonly id: string
  readonly title: string
  /** Badge after the title. */
  readonly mark?: Html | false
  readonly details: Html
  readonly action: Html
}

/** Place of the button that copies the row's first text; the script adds the button. */
const copyAction = (label: string, isFirst: boolean) =>
  html`<div class="action" data-action="${label}"${isFirst && html` data-first="true"`}></div>`

interface Known {
  readonly client: Client
  /** `undefined`: the client's file supports no remote servers. */
  readonly install: RemoteInstall | undefined
  readonly command: string | undefined
  readonly isConnected: boolean
}

interface RowContext {
  /** Whether clients that take an address in their settings can use that of this server. */
  readonly hasAddress: boolean
  readonly system: NodeJS.Platform
  readonly isFirst: boolean
}

/** A block of code below a line that says where it belongs. */
const codeBlock = (place: Html, code: string, what: string): Html =>
  html`<div class="copied block"><p>${place}</p>
<div data-copy="${what}"><pre><code>${code}</code></pre></div></div>`

/**
 * A client's name, its install or copy button, and manual steps for the visitor's operating system.
 */
function row(
  { client, install, command, isConnected }: Known,
  { url }: RemoteServer,
  { hasAddress, system, isFirst }: RowContext,
): Html {
  const { id, title, restart } = client
  const link = install?.link
  const afterwards = html`<p>${restart.replaceAll(/"(.+?)"/g, '“$1”')}</p>`
  const copy =
    command !== undefined || (!install && !hasAddress)
      ? 'Copy command'
      : install
        ? 'Copy configuration'
        : 'Copy address'
  const steps = install
    ? html`${codeBlock(html`${command === undefined ? 'In' : 'Or in'} <code>${filePath(client, system)}</code>`, install.text, `the configuration of ${title}`)}
${afterwards}`
    : hasAddress
      ? html`<p>In its settings, add a connector with this address:</p>
${copied(html`<code>${url}</code>`, `the address for ${title}`)}`
      : html`<p>It starts a server of its own, and cannot use this one. On its computer, run:</p>
${copied(html`<code>voice-agent-mcp install ${id}</code>`, `the command for ${title}`)}
${afterwards}`
  return foldedRow({
    ...{ id, title, mark: isConnected && badge('Connected', 'success') },
    details: html`${
      command !== undefined &&
      html`<p>In a terminal:</p>
${copied(html`<code>${command}</code>`, `the command for ${title}`)}`
    }
${steps}`,
    action:
      link === undefined
        ? copyAction(copy, isFirst)
        : html`<div class="action"><a class="button${isFirst && ' primary'}" href="${link}">Install<span class="unseen"> in ${title}</span></a></div>`,
  })
}

const commands: Readonly<Record<string, (server: RemoteServer) => string>> = {
  'claude-code': ({ url, header }) => claudeCommand(url, header),
  gemini: ({ url, header }) =>
    `gemini mcp add --scope user --transport http${headerFlag(header)} ${usualServerName} ${url}`,
}

/** Usual path of a client's file on an operating system. */
function filePath({ locate }: Client, system: NodeJS.Platform): string {
  const isWindows = system === 'win32'
  const { file } = locate({ platform: system, home: isWindows ? '%USERPROFILE%' : '~', env: {} })
  return isWindows ? file.replaceAll('/', '\\') : file
}
