import packageJson from '../../package.json' with { type: 'json' }
import { copied, copyParts, copyScript, copyStyle } from '../apps/pages/copy-buttons.ts'
import { badge, type Html, html } from '../apps/pages/html.ts'
import { inline, pageOf, styleOf } from '../apps/pages/page.ts'
import type { Readiness } from '../server/transports/http.ts'
import type { OwnKey } from '../server/transports/http-authentication.ts'
import { usualServerName } from './commands/install.ts'
import { clientRows, type Visitor, visitorOf } from './home-page-clients.ts'
import { type Access, accessOf, secretHeaders } from './http-start-message.ts'

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
