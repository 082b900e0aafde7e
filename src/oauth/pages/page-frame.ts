import { checkboxStyle } from '../../apps/design.ts'
import { type HtmlPage, type PageParts, pageOf, styleOf } from '../../apps/pages/page.ts'

/**
 * CSP source that lets a form redirect to this address (CSP 3 §6.4.2). A policy cannot name an IPv6
 * address, and an app has no host, so for both the scheme is allowed.
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
export function oauthPage({
  redirectUri,
  ...parts
}: Omit<PageParts, 'script' | 'style' | 'formAction'> & { redirectUri?: string }): HtmlPage {
  if (redirectUri === undefined) return pageOf({ ...parts, style })
  const end = formActionSource(redirectUri)
  return pageOf({ ...parts, style, formAction: ["'self'", end ?? ''].join(' ').trim() })
}

/** Style of the pages: a card with one question. On a phone the card fills the screen. */
const style = styleOf(`${checkboxStyle}
body { display: flow-root; min-height: 100vh; background: var(--raised); }
main {
  max-width: 32rem; margin-bottom: var(--space-6); padding: var(--space-6); display: grid; gap: var(--space-5);
  border: 1px solid var(--line); border-radius: var(--radius-3); background: var(--page);
}
h1 { font-size: var(--size-4); }
h1.allowed { display: flex; gap: var(--space-2); align-items: center; }
h1.allowed .icon { width: 1.5rem; height: 1.5rem; padding: .25rem; border-radius: 99rem; color: var(--success); background: var(--success-page); }
.host { display: inline-block; max-width: 100%; }
form { display: grid; gap: var(--space-5); }
/* One click selects a message that the person sends on: the pages have no script that copies. */
.sent { user-select: all; -webkit-user-select: all; }
.facts {
  display: grid; grid-template-columns: fit-content(45%) minmax(0, 1fr); gap: var(--space-1) var(--space-4);
  font-size: var(--size-2);
}
.facts dt { color: var(--muted); }
.facts dd { font-weight: var(--medium); }
legend .badge { margin-inline-start: var(--space-1); vertical-align: text-bottom; }
#key { width: 100%; min-height: 2.75rem; margin-top: var(--space-2); }
#key[aria-invalid=true] { border: 2px solid var(--danger); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
legend { padding: 0 0 var(--space-2); font-weight: var(--bold); }
.choice {
  position: relative; display: grid; grid-template-columns: 1.25rem 1fr; gap: var(--space-3);
  padding: var(--space-3) 0; border-top: 1px solid var(--line);
}
fieldset:last-of-type { border-bottom: 1px solid var(--line); }
.choice input { width: 1.25rem; height: 1.25rem; margin: .125rem 0 0; z-index: 1; }
/* The whole row ticks its box. */
.choice label::after { content: ''; position: absolute; inset: 0; cursor: pointer; }
@media (min-width: 34rem) {
  main { margin-top: var(--space-6); }
  button.quiet { margin-inline: auto calc(-1 * var(--space-4)); }
}
@media (forced-colors: active) { button.quiet { margin-inline-end: 0; } }
@media (max-width: 34rem) {
  body { background: var(--page); }
  main { margin: 0; padding: var(--space-5) var(--space-4); border: 0; border-radius: 0; }
  .buttons > * { flex: 1 1 100%; margin: 0; }
}
`)
