import {
  type Html,
  type HtmlPage,
  html,
  type PageParts,
  pageOf as page,
} from '../../apps/pages/page.ts'
import { quotedUpTo } from '../../text/dialog-text.ts'
import type { AskingClient } from './models.ts'

/** Maximum length of a shown name, characters. */
const longestName = 60

/** The client's own name in quotes, so that no part of it passes for this server's text. */
const clientName = ({ name }: AskingClient): Html =>
  name?.trim()
    ? html`<bdi>${quotedUpTo(name.trim(), longestName)}</bdi>`
    : html`A program without a name`

/** The client's name as plain text, for a page's title. */
export const clientTitle = ({ name }: AskingClient): string =>
  name?.trim() ? quotedUpTo(name.trim(), longestName) : 'a program without a name'

/** Shows the client and marks its verified statements. */
export function clientFacts(client: AskingClient): Html {
  return html`<dl>
<dt>Asked by</dt><dd>${clientName(client)}</dd>
${knownBy(client)}
<dt>Sends you back to</dt><dd>${placeInWords(client)}</dd>
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

/** Warning about facts that only the person can judge; `undefined` if there are none. */
function warning(client: AskingClient): Html | undefined {
  const target = redirectTarget(client.redirectUri)
  if (target.kind !== 'web') {
    return html`<p class="note">Go on only if you have just started this in that program yourself. Any
program on this computer can use its name.</p>`
  }
  if (client.known === 'by_registration') {
    return html`<p class="note">Anyone can register under any name. Go on only if you know
${target.host} and have just started this there.</p>`
  }
  if (client.known === 'by_document' && !sameSite(hostOf(client.id), target.host)) {
    return html`<p class="note">${hostOf(client.id)} sends you back to another site. Go on only if you
know ${target.host}, too.</p>`
  }
  return undefined
}

const sameSite = (host: string, other: string) =>
  host === other || host.endsWith(`.${other}`) || other.endsWith(`.${host}`)

/** Redirect target in the terms that matter to a person. */
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
  if (redirectUri === undefined) return page(parts)
  const end = formActionSource(redirectUri)
  return page({ ...parts, formAction: ["'self'", end ?? ''].join(' ').trim() })
}
