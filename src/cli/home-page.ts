import packageJson from '../../package.json' with { type: 'json' }
import { badge, type Html, html } from '../apps/pages/html.ts'
import { inline, pageOf, styleOf } from '../apps/pages/page.ts'
import type { Readiness } from '../server/transports/http.ts'
import type { OwnKey } from '../server/transports/http-key.ts'
import { usualServerName } from './commands/install.ts'
import {
  type Access,
  accessOf,
  claudeCommand,
  headerFlag,
  secretHeaders,
} from './http-start-message.ts'
import { type Client, clients, type Machine } from './install/clients.ts'
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
  const { status, headers, body } = pageOf({
    title: isSandbox ? 'Voice agents (sandbox)' : 'Voice agents',
    style,
    script,
    content: html`<header>
<h1>Voice agents for your assistant</h1>
<p>A server of the Model Context Protocol (MCP): an assistant that is connected to it manages voice agents,
phone numbers and calls for you.</p>
<p class="row">${states(options)}</p>
</header>
<section>
<h2>Try asking</h2>
<ul>
${questions.map((question) => html`<li>${copied(html`<span>${question}</span>`, 'the question')}</li>`)}
</ul>
</section>
<section>
<h2>Address</h2>
${copied(html`<code>${url}</code>`, 'the address')}
<div class="hint" data-access="${access}">${inWords[access]}</div>
</section>
<section>
<h2 id="connect">Connect</h2>
${rows({ name: usualServerName, url, header: secretHeaders[access] }, request, access, options)}
</section>
<p role="status" id="said" class="unseen"></p>
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

/** Badges: whether calls cost money, and whether the platform and the state are reachable. */
function states({ isSandbox, readiness: { platform, state } }: HomePageOptions): readonly Html[] {
  return [
    isSandbox
      ? badge('Sandbox: calls are simulated', 'info')
      : badge('Real platform: calls cost money', 'warning'),
    platform === 'ok'
      ? badge('Platform reachable', 'success')
      : badge('Platform not reachable', 'danger'),
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

const style = styleOf(`
main { display: grid; gap: var(--space-6); }
header { display: grid; gap: var(--space-3); }
header p { margin: 0; }
section > h2 { margin-bottom: var(--space-2); }
ul { margin: 0; padding: 0; list-style: none; }
li, .client { border-top: 1px solid var(--line); }
li:last-child, .client:last-child { border-bottom: 1px solid var(--line); }
.copied { display: flex; gap: var(--space-3); align-items: center; justify-content: space-between; }
.copied > div { min-width: 0; }
li .copied { padding: var(--space-2) 0; }
section > .copied, .copied:has(pre), details .copied {
  margin-bottom: var(--space-2); padding: var(--space-1) var(--space-1) var(--space-1) var(--space-3);
  border-radius: var(--radius-2); background: var(--raised);
}
.copied code { font-size: calc(.93 * var(--size-2)); }
pre { margin: 0; padding: var(--space-2) 0; white-space: pre-wrap; }
/* The button floats beside the first lines, so that long addresses below it have the full width. */
.copied:has(pre) { display: flow-root; }
.copied:has(pre) button { float: inline-end; }
.copied button { flex: none; min-width: 5.5rem; }
li .copied button {
  min-width: 0; margin: calc(-1 * var(--space-1)) calc(-1 * var(--space-4)) calc(-1 * var(--space-1)) 0;
  border-color: transparent; background: none; color: var(--accent);
}
/* The action stands beside the name and the closed details; open details have the full width. */
.client {
  display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--space-3); align-items: start;
  padding: var(--space-3) 0;
}
.client h3 { font-size: var(--size-3); font-weight: var(--medium); }
.client .action { grid-area: 1 / 2 / span 2; z-index: 1; }
.client .action > * { min-width: 10.5rem; }
.client details { grid-column: 1 / -1; grid-row: 2; }
summary { width: fit-content; min-height: 1.5rem; color: var(--muted); font-size: var(--size-2); }
details[open] > summary { margin-bottom: var(--space-2); }
details p { font-size: var(--size-2); }
details .copied + p { margin-top: var(--space-3); }
details > p + .copied { margin-top: var(--space-1); }
@media (pointer: coarse) { summary { display: flex; align-items: center; } }
`)

/**
 * Adds copy buttons. Outside https and localhost there is no clipboard API: the script selects the
 * text and tries execCommand.
 */
const script = inline(`
const said = document.getElementById('said')
function copyButton(label, name, source) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = label
  button.setAttribute('aria-label', name)
  const say = (text) => {
    button.textContent = text
    said.textContent = text + ': ' + source.dataset.copy
    setTimeout(() => { button.textContent = label }, 3000)
  }
  const select = () => {
    const folded = source.closest('details')
    if (folded) folded.open = true
    getSelection().selectAllChildren(source)
    return document.execCommand('copy')
  }
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent)
      say('Copied')
    } catch {
      say(select() ? 'Copied' : 'Selected')
    }
  })
  return button
}
for (const source of document.querySelectorAll('[data-copy]')) {
  const name = 'Copy ' + source.dataset.copy
  const place = source.closest('.copied')
  place[source.querySelector('pre') ? 'prepend' : 'append'](copyButton('Copy', name, source))
}
for (const place of document.querySelectorAll('[data-action]')) {
  const source = place.closest('.client').querySelector('[data-copy]')
  const button = copyButton(place.dataset.action, place.dataset.action + ': ' + source.dataset.copy, source)
  if (place.dataset.first) button.className = 'primary'
  place.append(button)
}
`)

/** A text with its copy button; `what` names it for screen readers. */
const copied = (text: Html, what: string): Html =>
  html`<div class="copied"><div data-copy="${what}">${text}</div></div>`

const inWords: Readonly<Record<Access, Html>> = {
  none: html`<p>It needs no key.</p>`,
  key: html`<p>Each request brings an API key of the platform: put yours in place of
<code>YOUR-API-KEY</code>.</p>`,
  local_token: html`<p>The server has an API key of its own, for programs of the user who started it. They
send its local token: put it in place of <code>YOUR-LOCAL-TOKEN</code>. The server prints it when it
starts. A client can send an API key instead, as <code>X-API-Key</code>.</p>`,
  oauth: html`<p>Your assistant opens a page of this server, where you give your API key and say what it
may do. Hosted assistants, such as Claude and ChatGPT, ask for the address in their settings, under
connectors or apps.</p>`,
}

/** The clients, in the order in which the visitor probably uses them. */
function rows(
  server: RemoteServer,
  request: Request,
  access: Access,
  { connected }: HomePageOptions,
): readonly Html[] {
  const userAgent = request.headers.get('user-agent') ?? ''
  // A server with several users must not tell one user which clients another uses.
  const isOwn = access === 'none' || access === 'local_token'
  const known = clients.map((client) => {
    const install = remoteInstall(client, server)
    const command = commands[client.id]?.(server)
    const isConnected = isOwn && connected.has(client.title)
    return { client, install, command, isConnected }
  })
  const rank = ({ client, install, command, isConnected }: Known): number => {
    if (isConnected) return 0
    if (!install) return access === 'oauth' && hasClaude.test(userAgent) ? 1 : 5
    if (install.link !== undefined && client.id !== 'vscode-insiders') return 2
    return command === undefined ? 4 : 3
  }
  return known
    .toSorted((one, other) => rank(one) - rank(other))
    .map((one, place) => row(one, server, { userAgent, isFirst: place === 0 }))
}

/** Operating systems with an app of Claude, in which users add connectors. */
const hasClaude = /Windows|Mac|Android|iPhone|iPad/

interface Known {
  readonly client: Client
  /** `undefined`: the client's file supports no remote servers. */
  readonly install: RemoteInstall | undefined
  readonly command: string | undefined
  readonly isConnected: boolean
}

/**
 * A client's name, its install or copy button, and manual steps for the visitor's operating system.
 */
function row(
  { client, install, command, isConnected }: Known,
  { url }: RemoteServer,
  { userAgent, isFirst }: { readonly userAgent: string; readonly isFirst: boolean },
): Html {
  const { id, title, restart } = client
  const link = install?.link
  const copy = !install
    ? 'Copy address'
    : command === undefined
      ? 'Copy configuration'
      : 'Copy command'
  return html`<section class="client" id="${id}" aria-labelledby="name-${id}">
<div class="row"><h3 id="name-${id}">${title}</h3>${isConnected && badge('Connected', 'success')}</div>
${
  link === undefined
    ? html`<div class="action" data-action="${copy}"${isFirst && html` data-first="true"`}></div>`
    : html`<div class="action"><a class="button${isFirst && ' primary'}" href="${link}">Install<span class="unseen"> in ${title}</span></a></div>`
}
<details>
<summary>Details<span class="unseen">: ${title}</span></summary>
${
  command !== undefined &&
  html`<p>In a terminal:</p>
${copied(html`<code>${command}</code>`, `the command for ${title}`)}`
}
${
  install
    ? html`<p>${command === undefined ? 'In' : 'Or in'} <code>${filePath(client, userAgent)}</code>:</p>
${copied(html`<pre><code>${install.text}</code></pre>`, `the configuration of ${title}`)}
<p>${restart}</p>`
    : html`<p>Its file takes no servers on the network. Add the address as a connector in its settings; it has
to be one that is reachable from the internet:</p>
${copied(html`<code>${url}</code>`, `the address for ${title}`)}
<p>For a server on this computer run <code>install ${id}</code> of voice-agent-mcp there.</p>`
}
</details>
</section>`
}

const commands: Readonly<Record<string, (server: RemoteServer) => string>> = {
  'claude-code': ({ url, header }) => claudeCommand(url, header),
  gemini: ({ url, header }) =>
    `gemini mcp add --scope user --transport http${headerFlag(header)} ${usualServerName} ${url}`,
}

/** Usual path of a client's file on the visitor's operating system. */
function filePath(client: Client, userAgent: string): string {
  if (/Windows/.test(userAgent)) {
    return client.locate(machine('win32', '%USERPROFILE%')).file.replaceAll('/', '\\')
  }
  return client.locate(machine(/Mac/.test(userAgent) ? 'darwin' : 'linux', '~')).file
}

const machine = (platform: NodeJS.Platform, home: string): Machine => ({ platform, home, env: {} })
