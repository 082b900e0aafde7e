import { type Html, html, note } from '../../apps/pages/html.ts'
import { quotedUpTo } from '../../text/dialog-text.ts'
import { escaped } from '../../text/safe-text.ts'
import type { AskingClient, ScopeName } from './models.ts'

/** Maximum length of a shown name, characters. */
const longestName = 60

/**
 * The client's self-chosen name for titles and headings, in quotes, so that it cannot pass for this
 * server's text.
 */
export const clientTitle = ({ name }: Pick<AskingClient, 'name'>): string =>
  name?.trim() ? nameInQuotes(name.trim(), longestName) : 'a program without a name'

/** The client's name within a sentence. */
export const programName = (client: Pick<AskingClient, 'name'>): Html =>
  client.name?.trim() ? html`<bdi>${clientTitle(client)}</bdi>` : html`the program`

/** A name in typographic quotes. Quotes inside it are escaped, as in `quotedUpTo`. */
export const nameInQuotes = (name: string, max: number): string =>
  quotedUpTo(name, max)
    .replaceAll(/[“”]/g, escaped)
    .replace(/^"(.*)"/s, '“$1”')

/**
 * A list of the client's origin and whether it is verified, where the person is sent back to, and
 * the account; then a warning if the client is not verified. The host of a program on the person's
 * computer is never verified: any other program there can use its client id. Its origin is
 * therefore last, above the warning.
 */
export function clientFacts(client: AskingClient, account?: Html): Html {
  const isWeb = redirectTarget(client.redirectUri).kind === 'web'
  return html`<dl class="facts">
${isWeb && knownBy(client)}
<dt>Sends you back to</dt><dd>${placeInWords(client)}</dd>
${account && html`<dt>Account</dt><dd>${account}</dd>`}
${!isWeb && html`<dt>Calls itself</dt><dd>${claimOf(client)}</dd>`}
</dl>
${warning(client)}`
}

function knownBy({ known, id }: AskingClient): Html {
  if (known === 'by_document')
    return html`<dt>Published by</dt><dd>${hostName(hostOf(id))} (verified)</dd>`
  if (known === 'by_operator') return html`<dt>Set up by</dt><dd>the operator of this server</dd>`
  return html`<dt>Known by</dt><dd>its own registration (not verified)</dd>`
}

/** What a program on the person's computer says about itself: its name, and its publisher if any. */
function claimOf(client: AskingClient): Html {
  const { known, id, name } = client
  const publisher = known === 'by_document' && hostOf(id)
  if (!name?.trim() && !publisher) return html`nothing`
  const claim = name?.trim()
    ? html`<bdi>${clientTitle(client)}</bdi>${publisher && ` (${publisher})`}`
    : publisher
  return html`${claim}: any program on this computer can use this name`
}

const hostOf = (address: string): string => URL.parse(address)?.host ?? quotedUpTo(address, 100)

/**
 * A host name, with the punctuation after it. It is on one line, or if it is longer than a line, it
 * breaks after its dots.
 */
export function hostName(host: string, punctuation = ''): Html {
  const name = host
    .split(/(?<=\.)/)
    .map((label) => html`${label}`)
    .reduce((start, label) => html`${start}<wbr>${label}`)
  return html`<bdi class="host">${name}${punctuation}</bdi>`
}

function placeInWords({ redirectUri }: AskingClient): Html | string {
  const target = redirectTarget(redirectUri)
  if (target.kind === 'web') return hostName(target.host)
  if (target.kind === 'this_computer') return 'a program on this computer'
  return `the app for ${target.scheme} addresses`
}

/**
 * Warning where only the person can judge the client; `undefined` if this server has verified it.
 */
function warning(client: AskingClient): Html | undefined {
  const target = redirectTarget(client.redirectUri)
  if (target.kind !== 'web') {
    return caution(
      html`Go on only if you have just started this yourself, in that program on this computer.`,
    )
  }
  if (isUnverifiedSite(client)) {
    return caution(html`Anyone can register under any name. Go on only if you know ${hostName(target.host)} and have
just started this there.`)
  }
  if (client.known === 'by_document' && !sameSite(hostOf(client.id), target.host)) {
    return caution(html`${hostName(hostOf(client.id))} sends you back to another site. Go on only if you know
${hostName(target.host, ',')} too.`)
  }
  return undefined
}

/** True if the client is a website that registered itself: nobody has verified it. */
const isUnverifiedSite = ({ known, redirectUri }: AskingClient) =>
  known === 'by_registration' && redirectTarget(redirectUri).kind === 'web'

/**
 * Scopes that are not preselected, even if the client requests them. Calls cost money, and a website
 * that registered itself gets no write access by default.
 */
export const notPreselected = (client: AskingClient): readonly ScopeName[] =>
  isUnverifiedSite(client) ? ['write', 'call'] : ['call']

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
