import packageJson from '../../package.json' with { type: 'json' }
import { copied, copyParts, copyScript, copyStyle } from '../apps/pages/copy-buttons.ts'
import { badge, type Html, html } from '../apps/pages/html.ts'
import { inline, pageOf, styleOf } from '../apps/pages/page.ts'
import type { Readiness } from '../server/transports/http.ts'
import type { OwnKey } from '../server/transports/http-authentication.ts'
import { usualServerName } from './commands/install.ts'
import {
  type Access,
  accessOf,
  claudeCommand,
  headerFlag,
  secretHeaders,
} from './http-start-message.ts'
import { type Client, clients } from './install/clients.ts'
import { type RemoteInstall, type RemoteServer, remoteInstall } from './install/server-entry.ts'

export interface HomePageOptions {
  readonly isSandbox: boolean
  readonly ownKey: OwnKey
  /** Public origin, if configured. */
  readonly publicUrl: URL | undefined
  readonly readiness: Readiness
  /** Titles of clients that have connected to this process. */
  readonly connected: ReadonlySet<string>
}

/**
 * Serves the page at / of the HTTP server. The page contains no secret and works without its
 * script, which adds buttons.
 */
export function showHomePage(request: Request, options: HomePageOptions): Response {
  const { ownKey, publicUrl, isSandbox } = options
  const access = accessOf(ownKey, publicUrl !== undefined)
  const url = `${publicUrl?.origin ?? baseOf(request)}/mcp`
  const visitor = visitorOf(request.headers.get('user-agent') ?? '')
  const server = { name: usualServerName, url, header: secretHeaders[access] }
  const parts = [tryAsking, addressOf(url, access, { visitor, isSandbox })]
  const { status, headers, body } = pageOf({
    title: isSandbox ? 'Voice agents (sandbox)' : 'Voice agents',
    style,
    script,
    content: html`<header>
<h1>Voice agents for your assistant</h1>
<p>Connect an assistant to this MCP server, and it manages voice agents, phone numbers and calls for you.</p>
<p class="row">${states(options)}</p>
</header>
${visitor.isPhone ? parts.toReversed() : parts}
<section>
<h2 id="connect">Connect</h2>
${clientRows(server, { access, visitor, connected: options.connected })}
</section>
${copyParts}
<footer class="hint">voice-agent-mcp ${packageJson.version}</footer>`,
  })
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

/** Example questions. Read-only tools answer all but the third, which creates an agent. */
const questions = [
  'Which agents do I have, and how many calls did they take this week?',
  'Which calls failed this week, and why?',
  'Create an agent that takes table reservations. What does it still need before it can take calls?',
]

const tryAsking = html`<section>
<h2>Try asking</h2>
<ul>
${questions.map((question) => html`<li>${copied(html`<span>${question}</span>`, 'the question')}</li>`)}
</ul>
</section>`

const addressOf = (
  url: string,
  access: Access,
  { visitor, isSandbox }: { readonly visitor: Visitor; readonly isSandbox: boolean },
): Html => html`<section>
<h2>Address</h2>
${copied(html`<code>${url}</code>`, 'the address')}
<div class="hint" data-access="${access}">${isSandbox && access === 'oauth' ? sandboxOauth : inWords[access]}${
  visitor.isPhone &&
  html`<p>Programs on a computer are set up there: open this page on that computer.</p>`
}</div>
</section>`

/**
 * Badges: whether calls cost money, and whether the platform and the state are reachable. In the
 * sandbox, no badge says that the platform is reachable: there is none.
 */
function states({ isSandbox, readiness: { platform, state } }: HomePageOptions): readonly Html[] {
  return [
    isSandbox
      ? badge('Sandbox: calls are simulated')
      : badge('Real platform: calls cost money', 'warning'),
    ...(platform === 'ok' ? [] : [badge('Platform not reachable', 'danger')]),
    ...(platform === 'ok' && !isSandbox ? [badge('Platform reachable', 'success')] : []),
    ...(state === 'ok' ? [] : [badge('State not reachable: nobody can be called', 'danger')]),
  ]
}

/**
 * Origin that the browser has used. Forwarding headers are trusted from any sender, because the
 * page goes only to that sender and is not cached.
 */
function baseOf({ url, headers }: Request): string {
  const base = new URL(url)
  const prefix = headers.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  const isSecure = headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https'
  return `${isSecure ? 'https:' : base.protocol}//${base.host}${/^(\/[\w.~-]+)+$/.test(prefix) ? prefix : ''}`
}

const inWords: Readonly<Record<Access, Html>> = {
  none: html`<p>It needs no key.</p>`,
  key: html`<p>Each request brings an API key of the platform: put yours in place of
<code>YOUR-API-KEY</code>.</p>`,
  local_token: html`<p>The server has an API key of its own, for programs of the user who started it. They
send its local token: put it in place of <code>YOUR-LOCAL-TOKEN</code>. The server prints it when it
starts. A client can send an API key instead, as <code>X-API-Key</code>.</p>`,
  oauth: html`<p>Your assistant opens a page of this server, where you give your API key and say what it
may do.</p>`,
}

/** Its page asks for no key: everyone gets the sandbox account. */
const sandboxOauth = html`<p>Your assistant opens a page of this server, where you say what it may do. No key is
needed.</p>`

/** Device and program that show the page, by their user agent. */
interface Visitor {
  readonly system: NodeJS.Platform
  /** Phones and tablets, on which no client is installed. */
  readonly isPhone: boolean
  /** Whether the system has Claude Desktop. */
  readonly hasClaudeDesktop: boolean
  /** Id of the client in whose own browser the page is open. */
  readonly client: string | undefined
}

const visitorOf = (userAgent: string): Visitor => ({
  system: /Windows/.test(userAgent) ? 'win32' : /Mac/.test(userAgent) ? 'darwin' : 'linux',
  isPhone: /Android|iPhone|iPad|Mobile/.test(userAgent),
  hasClaudeDesktop: /Windows|Macintosh/.test(userAgent),
  client: ownBrowsers.find(([name]) => name.test(userAgent))?.[1],
})

/** Clients with a built-in browser, recognised by its user agent. */
const ownBrowsers = [
  [/\bCode ?- ?Insiders\/\d/, 'vscode-insiders'],
  [/\bCode\/\d/, 'vscode'],
  [/\bCursor\/\d/, 'cursor'],
  [/\bWindsurf\/\d/, 'windsurf'],
] as const

interface RowsContext extends Pick<HomePageOptions, 'connected'> {
  readonly access: Access
  readonly visitor: Visitor
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
function clientRows(server: RemoteServer, { access, visitor, connected }: RowsContext): Html {
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
    command: addCommands[client.id]?.(server),
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
      : clientRow(one, server, { hasAddress: access === 'oauth', system: visitor.system, isFirst })
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
function clientRow(
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

/** Commands that add the server to a client, by the client's id. */
const addCommands: Readonly<Record<string, (server: RemoteServer) => string>> = {
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

const style = styleOf(`${copyStyle}main { display: grid; gap: var(--space-6); }
header { display: grid; gap: var(--space-3); }
header p { margin: 0; }
section > h2 { margin-bottom: var(--space-2); }
ul { margin: 0; padding: 0; list-style: none; }
li, .client, .more { border-top: 1px solid var(--line); }
li:last-child, .client:last-child, .more { border-bottom: 1px solid var(--line); }
.more .client:last-child { border-bottom: 0; }
li .copied { padding: var(--space-3) 0; }
section > .copied, details .copied { padding-inline-start: var(--space-3); border-radius: var(--radius-2); background: var(--raised); }
.copied code { font-size: calc(.93 * var(--size-2)); }
li .copied button { justify-content: end; padding-inline-end: 0; }
.block > p { padding-block: var(--space-2); }
.block [data-copy] {
  grid-column: 1 / -1; margin-inline-start: calc(-1 * var(--space-3)); padding: var(--space-3);
  border-top: 1px solid var(--line);
}
pre { margin: 0; white-space: pre-wrap; }
/* The action stands beside the closed details; open details have the full width. */
.client {
  --action: 10.5rem;
  display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: start; padding: var(--space-2) 0;
}
.client .action { grid-area: 1 / 2; z-index: 1; }
.client .action > * { min-width: var(--action); }
.client details { grid-area: 1 / 1 / auto / -1; }
summary { display: flex; align-items: center; width: fit-content; min-height: 2.75rem; }
.more > summary { color: var(--muted); }
.client summary { max-width: calc(100% - var(--action) - var(--space-3)); }
.client details[open] > summary { margin-bottom: var(--space-2); }
.copied + .hint { margin-block: var(--space-2) 0; }
.client h3 { font-size: var(--size-3); font-weight: var(--medium); }
.client .badge { margin-inline-start: var(--space-2); }
details .copied, details p { margin-bottom: var(--space-2); font-size: var(--size-2); }
details .copied p { margin: 0; }
@container (max-width: 24rem) {
  .client { --action: 9.75rem; }
  .client .action > * { padding-inline: var(--space-2); }
}
@container (max-width: 16rem) {
  .client .action { grid-area: 2 / 1; }
  .client .action > * { min-width: 0; }
  .more > summary { color: var(--muted); }
.client summary { max-width: none; }
  .copied { grid-template-columns: minmax(0, 1fr); padding-top: var(--space-2); }
  section .copied button { justify-content: start; justify-self: start; padding-inline: 0; }
}
@media (forced-colors: active) { section .copied button { padding-inline: var(--space-3); } }
`)

/** Adds copy buttons, and each client's action. */
const script = inline(`${copyScript}
for (const place of document.querySelectorAll('[data-action]')) {
  const source = place.closest('.client').querySelector('[data-copy]')
  const button = copyButton(place.dataset.action, place.dataset.action + ': ' + source.dataset.copy, source)
  if (place.dataset.first) button.className = 'primary'
  place.append(button)
}
`)
