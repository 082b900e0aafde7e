import packageJson from '../../package.json' with { type: 'json' }
import { type Html, html, inline, pageOf, styleOf } from '../apps/pages/page.ts'
import { localTokenHeader } from '../platform/sessions/credential.ts'
import type { Readiness } from '../server/transports/http.ts'
import type { OwnKey } from '../server/transports/http-key.ts'
import { claudeCommand, headerFlag } from './http-start-message.ts'
import { type Client, clients, type Machine } from './install/clients.ts'
import { type RemoteServer, remoteInstall } from './install/server-entry.ts'

/** Credential that requests need. */
type Access =
  /** None: the sandbox. */
  | 'none'
  /** An API key of the platform. */
  | 'key'
  /** The local token of this server, or an API key. */
  | 'local_token'
  /** Clients get a token by OAuth; an API key works, too. */
  | 'oauth'

export interface StartPageOptions {
  readonly isSandbox: boolean
  readonly ownKey: OwnKey
  /** Public origin, if configured. */
  readonly publicUrl: URL | undefined
  readonly readiness: Readiness
}

/**
 * Serves the page at / of the HTTP server. The page contains no secret and works without its
 * script, which adds buttons.
 */
export function showStartPage(request: Request, options: StartPageOptions): Response {
  const { ownKey, publicUrl } = options
  const access = publicUrl ? 'oauth' : accessBy(ownKey)
  const url = `${publicUrl?.origin ?? baseOf(request)}/mcp`
  const server = { name, url, header: secretHeaders[access] }
  const userAgent = request.headers.get('user-agent') ?? ''
  const { status, headers, body } = pageOf({
    title: options.isSandbox ? 'Voice agents (sandbox)' : 'Voice agents',
    style,
    script,
    content: html`<h1>Voice agents for your assistant</h1>
<p>This is a server of the Model Context Protocol (MCP). An assistant that is connected to it can manage
voice agents, phone numbers and calls for you.</p>
${what(options)}
<h2 id="connect">Connect</h2>
<p>The address for every client:</p>
<div class="copied"><code data-copy="the address">${url}</code></div>
<div data-access="${access}">${inWords[access]}</div>
${clients.map((client) => steps(client, server, userAgent))}
<p class="hint" role="status" id="said"></p>
<p class="hint">voice-agent-mcp ${packageJson.version}</p>`,
  })
  return new Response(request.method === 'HEAD' ? null : body, { status, headers })
}

function accessBy(ownKey: OwnKey): Access {
  if (ownKey.usedBy === 'none') return 'key'
  return ownKey.usedBy === 'local-user' && ownKey.token ? 'local_token' : 'none'
}

/**
 * Origin that the browser has used. Forwarding headers are trusted from anyone, because only the
 * sender sees the page, and it is not cached.
 */
function baseOf({ url, headers }: Request): string {
  const base = new URL(url)
  const prefix = headers.get('x-forwarded-prefix')?.replace(/\/$/, '') ?? ''
  const isSecure = headers.get('x-forwarded-proto')?.split(',')[0]?.trim() === 'https'
  return `${isSecure ? 'https:' : base.protocol}//${base.host}${/^(\/[\w.~-]+)+$/.test(prefix) ? prefix : ''}`
}

const style = styleOf(`
main { max-width: 44rem; }
.good { color: var(--success); }
.bad { color: var(--danger); }
code { font: .9em/1.5 ui-monospace, monospace; }
.copied { display: flex; flex-wrap: wrap; gap: .5rem; align-items: start; margin: 0 0 1rem; }
.copied > :first-child {
  flex: 1 1 16rem; min-width: 0; margin: 0; padding: .5rem .75rem; background: var(--page);
  border: 1px solid var(--line); border-radius: var(--radius-1);
}
pre { white-space: pre-wrap; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
summary { padding: .75rem .25rem; font-weight: 600; cursor: pointer; }
details > :not(summary) { margin-left: .25rem; }
`)

/**
 * Adds copy buttons. Outside https and localhost there is no clipboard API: the script selects the
 * text and tries execCommand.
 */
const script = inline(`
for (const code of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy ' + code.dataset.copy)
  const say = (text) => {
    button.textContent = text
    document.getElementById('said').textContent = text + ': ' + code.dataset.copy
    setTimeout(() => { button.textContent = 'Copy' }, 3000)
  }
  const select = () => {
    getSelection().selectAllChildren(code)
    return document.execCommand('copy')
  }
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      say('Copied')
    } catch {
      say(select() ? 'Copied' : 'Selected')
    }
  })
  code.closest('.copied').append(button)
}
`)

function what({ isSandbox, readiness }: StartPageOptions): Html {
  return html`<dl>
<dt>Works with</dt><dd>${
    isSandbox
      ? 'the built-in sandbox: calls are simulated, no phone rings, nothing costs money'
      : 'a real platform: calls ring real phones and cost money'
  }</dd>
<dt>Platform</dt><dd>${
    readiness.platform === 'ok'
      ? html`<span class="good">reachable</span>`
      : html`<span class="bad">not reachable now</span>`
  }</dd>
${
  readiness.state === 'unreachable' &&
  html`<dt>State</dt><dd><span class="bad">not reachable now</span>: nobody can be called</dd>`
}
</dl>`
}

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

/** Steps that connect one client to this server, on the browser's operating system. */
function steps(client: Client, server: RemoteServer, userAgent: string): Html {
  const { id, title, restart } = client
  const install = remoteInstall(client, server)
  const link = install?.link
  const command = commands[id]?.(server)
  return html`<details id="${id}">
<summary>${title}</summary>
${link !== undefined && html`<p><a class="button primary" href="${link}">Install in ${title}</a></p>`}
${
  command !== undefined &&
  html`<p>In a terminal:</p>
<div class="copied"><code data-copy="the command for ${title}">${command}</code></div>`
}
${
  install
    ? html`<p>${link !== undefined || command !== undefined ? 'Or in' : 'In'} <code>${filePath(client, userAgent)}</code>:</p>
<div class="copied"><pre><code data-copy="the configuration of ${title}">${install.text}</code></pre></div>
<p>${restart}</p>`
    : html`<p>Its file takes no servers on the network. Add the address as a connector in its settings; it has
to be one that is reachable from the internet. For a server on this computer run
<code>install ${id}</code> of voice-agent-mcp there.</p>`
}
</details>`
}

/** The header to send, with a placeholder for the secret. */
const secretHeaders: Readonly<Record<Access, RemoteServer['header']>> = {
  none: undefined,
  oauth: undefined,
  key: { name: 'X-API-Key', value: 'YOUR-API-KEY' },
  local_token: { name: localTokenHeader, value: 'YOUR-LOCAL-TOKEN' },
}

const name = 'voice-agents'

const commands: Readonly<Record<string, (server: RemoteServer) => string>> = {
  'claude-code': ({ url, header }) => claudeCommand(url, header),
  gemini: ({ url, header }) =>
    `gemini mcp add --scope user --transport http${headerFlag(header)} ${name} ${url}`,
}

/** Default path of a client's file. Does not look at this server's machine. */
function filePath(client: Client, userAgent: string): string {
  if (/Windows/.test(userAgent)) {
    return client.locate(machine('win32', '%USERPROFILE%')).file.replaceAll('/', '\\')
  }
  return client.locate(machine(/Mac/.test(userAgent) ? 'darwin' : 'linux', '~')).file
}

const machine = (platform: NodeJS.Platform, home: string): Machine => ({ platform, home, env: {} })
