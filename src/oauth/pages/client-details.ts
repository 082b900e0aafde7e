import { type Html, html, note } from '../../apps/pages/html.ts'
import { type HtmlPage, type PageParts, pageOf as page, styleOf } from '../../apps/pages/page.ts'
import { quotedUpTo } from '../../text/dialog-text.ts'
import { escaped } from '../../text/safe-text.ts'
import type { AskingClient } from './models.ts'

/** Maximum length of a shown name, characters. */
const longestName = 60

/**
 * The client's self-chosen name for titles and headings, in quotes, so that it cannot pass for this
 * server's text.
 */
export const clientTitle = ({ name }: AskingClient): string =>
  name?.trim() ? nameInQuotes(name.trim(), longestName) : 'a program without a name'

/** A name in typographic quotes. Quotes inside it are escaped, as in `quotedUpTo`. */
export const nameInQuotes = (name: string, max: number): string =>
  quotedUpTo(name, max)
    .replaceAll(/[“”]/g, escaped)
    .replace(/^"(.*)"/s, '“$1”')

/**
 * A list of the client's origin and whether it is verified, where the person is sent back to, and
 * the account; then a warning if the client is not verified.
 */
export function clientFacts(client: AskingClient, account?: Html): Html {
  return html`<dl class="facts">
${knownBy(client)}
<dt>Sends you back to</dt><dd>${placeInWords(client)}</dd>
${account && html`<dt>Account</dt><dd>${account}</dd>`}
</dl>
${warning(client)}`
}

function knownBy({ known, id }: AskingClient): Html {
  if (known === 'by_document') return html`<dt>Published by</dt><dd>${hostOf(id)} (checked)</dd>`
  if (known === 'by_operator') return html`<dt>Set up by</dt><dd>the operator of this server</dd>`
  return html`<dt>Known by</dt><dd>its own registration (not checked)</dd>`
}

const hostOf = (address: string): string => URL.parse(address)?.host ?? quotedUpTo(address, 100)

function placeInWords({ redirectUri }: AskingClient): string {
  const target = redirectTarget(redirectUri)
  if (target.kind === 'web') return target.host
  if (target.kind === 'this_computer') return 'a program on this computer'
  return `the app for ${target.scheme} addresses`
}

/**
 * Warning where only the person can judge the client; `undefined` if this server has verified it.
 */
function warning(client: AskingClient): Html | undefined {
  const target = redirectTarget(client.redirectUri)
  if (target.kind !== 'web') {
    return caution(html`Go on only if you have just started this in that program yourself. Any program on
this computer can use its name.`)
  }
  if (client.known === 'by_registration') {
    return caution(html`Anyone can register under any name. Go on only if you know ${target.host} and have
just started this there.`)
  }
  if (client.known === 'by_document' && !sameSite(hostOf(client.id), target.host)) {
    return caution(html`${hostOf(client.id)} sends you back to another site. Go on only if you know
${target.host}, too.`)
  }
  return undefined
}

const caution = (text: Html) => note(text, 'warning')

const sameSite = (host: string, other: string) =>
  host === other || host.endsWith(`.${other}`) || other.endsWith(`.${host}`)

/** Receiver of the authorization code, by its redirect URI. */
type RedirectTarget =
  /** A web host. */
  | { readonly kind: 'web'; readonly host: string }
  /** A program that listens on the person's own machine. */
  | { readonly kind: 'this_computer' }
  /** An app that the system starts for a scheme, such as `cursor:`. */
  | { readonly kind: 'app'; readonly scheme: string }

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

export function redirectTarget(redirectUri: string): RedirectTarget {
  const url = URL.parse(redirectUri)
  if (!url) return { kind: 'app', scheme: quotedUpTo(redirectUri, 40) }
  if (!/^https?:$/.test(url.protocol)) return { kind: 'app', scheme: url.protocol }
  return loopback.test(url.hostname) ? { kind: 'this_computer' } : { kind: 'web', host: url.host }
}

/**
 * CSP source that lets a form end at this address; redirects are checked too (CSP 3 §6.4.2). IPv6
 * addresses cannot be written in a policy and apps have no host: for both the scheme is allowed.
 */
function formActionSource(redirectUri: string): string | undefined {
  const url = URL.parse(redirectUri)
  if (!url) return undefined
  const isWeb = /^https?:$/.test(url.protocol)
  return isWeb && !url.hostname.startsWith('[') ? url.origin : url.protocol
}

/**
 * A page with its headers. The page's forms may be sent to this server, and may redirect to
 * `redirectUri`.
 */
export function pageOf({
  redirectUri,
  ...parts
}: Omit<PageParts, 'script' | 'style' | 'formAction'> & { redirectUri?: string }): HtmlPage {
  if (redirectUri === undefined) return page({ ...parts, style })
  const end = formActionSource(redirectUri)
  return page({ ...parts, style, formAction: ["'self'", end ?? ''].join(' ').trim() })
}

/** Style of the pages: a card with one question. On a phone the card fills the screen. */
const style = styleOf(`
body { display: flow-root; min-height: 100vh; background: var(--raised); }
main {
  max-width: 32rem; margin-bottom: var(--space-6); padding: var(--space-6); display: grid; gap: var(--space-5);
  border: 1px solid var(--line); border-radius: var(--radius-3); background: var(--page);
}
h1 { font-size: var(--size-4); }
form { display: grid; gap: var(--space-5); }
.facts {
  display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: var(--space-1) var(--space-4);
  font-size: var(--size-2);
}
.facts dt { color: var(--muted); }
.facts dd { font-weight: var(--medium); }
legend .badge { margin-inline-start: var(--space-1); }
#key { width: 100%; min-height: 2.75rem; margin-top: var(--space-2); }
#key[aria-invalid=true] { border: 2px solid var(--danger); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
legend { padding: 0 0 var(--space-2); font-weight: var(--bold); }
.choice {
  position: relative; display: grid; grid-template-columns: 1.25rem 1fr; gap: var(--space-3);
  padding: var(--space-3) 0; border-top: 1px solid var(--line);
}
fieldset:last-of-type { border-bottom: 1px solid var(--line); }
.choice input { width: 1.25rem; height: 1.25rem; margin: .125rem 0 0; accent-color: var(--accent); z-index: 1; }
/* The whole row ticks its box. */
.choice label::after { content: ''; position: absolute; inset: 0; cursor: pointer; }
@media (min-width: 34rem) {
  main { margin-top: var(--space-6); }
  button.quiet { margin-inline: auto calc(-1 * var(--space-4)); }
}
@media (max-width: 34rem) {
  body { background: var(--page); }
  main { margin: 0; padding: var(--space-5) var(--space-4); border: 0; border-radius: 0; }
  .facts { grid-template-columns: 1fr; gap: 0; }
  .facts dd:not(:last-child) { margin-bottom: var(--space-2); }
  .buttons > * { flex: 1 1 100%; margin: 0; }
}
`)
