import type { ServerResponse } from 'node:http'
import { checkboxStyle } from '../../apps/design.ts'
import { html, icon } from '../../apps/pages/html.ts'
import { type HtmlPage, pageOf, styleOf } from '../../apps/pages/page.ts'
import { clientText } from '../../text/safe-text.ts'
import { programName, redirectTarget } from './client-details.ts'
import { consentPage, keyPage } from './form-pages.ts'
import type { OauthPageParts, PageModel, ProblemModel, ReturnModel } from './models.ts'

/** Renders a page with its status and headers. No page has a script. */
export function renderPage(model: PageModel): HtmlPage {
  const { redirectUri, ...parts } = partsOf(model)
  if (redirectUri === undefined) return pageOf({ ...parts, style })
  const end = formActionSource(redirectUri)
  return pageOf({ ...parts, style, formAction: ["'self'", end ?? ''].join(' ').trim() })
}

function partsOf(model: PageModel): OauthPageParts {
  switch (model.page) {
    case 'key':
      return keyPage(model)
    case 'consent':
      return consentPage(model)
    case 'problem':
      return problemPage(model)
    case 'return':
      return returnPage(model)
  }
}

export function sendPage(response: ServerResponse, model: PageModel): void {
  const { status, headers, body } = renderPage(model)
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body)
}

/** Page of a request that cannot continue, with the reason and what the person can do. */
function problemPage({ problem, detail, again }: ProblemModel): OauthPageParts {
  const { status, heading, text, next } = texts[problem]
  return {
    title: heading,
    status,
    content: html`<h1 data-problem="${problem}">${heading}</h1>
<div>
<p>${text}</p>
<p>${again === undefined ? next : 'Ask for access again, or connect again in the program.'}</p>
</div>
${detail !== undefined && html`<p class="notice hint"><bdi class="sent">${clientText(detail, 500)}</bdi></p>`}
${again !== undefined && html`<div class="buttons"><a class="button primary" href="${again}">Ask again</a></div>`}`,
  }
}

const connectAgain =
  'Go back to the program that you want to connect, and connect there again: it opens a new page.'
const later = 'Wait a minute, then connect again in the program that you want to connect.'

const texts: Record<
  ProblemModel['problem'],
  {
    readonly status: number
    readonly heading: string
    readonly text: string
    /** What the person can do now. */
    readonly next: string
  }
> = {
  expired: {
    status: 410,
    heading: 'This page has expired',
    text: 'A request for access is valid for 30 minutes, in the browser that opened it. Nothing was allowed.',
    next: connectAgain,
  },
  forged: {
    status: 403,
    heading: 'This form was not sent from our own page',
    text: 'Another page may have tried to connect a program in your name. Nothing was allowed.',
    next: `If you started this yourself, allow cookies for this site. ${connectAgain}`,
  },
  answered: {
    status: 409,
    heading: 'This request was already answered',
    text: 'You can close this page.',
    next: 'If the program is not connected, connect there again: it opens a new page.',
  },
  invalid: {
    status: 400,
    heading: 'The program sent an invalid request',
    text: 'Nothing was allowed.',
    next: 'Send the makers of the program the message below, then close this page.',
  },
  unsafe_return: {
    status: 400,
    heading: 'The address of the program cannot be opened',
    text: 'It is not the address of a website or an app.',
    next: 'Do not use this program. You can close this page.',
  },
  too_many: {
    status: 429,
    heading: 'Too many requests for access',
    text: 'Many came from your network. Nothing was allowed.',
    next: later,
  },
  unavailable: {
    status: 503,
    heading: 'This server cannot go on at the moment',
    text: 'Nothing was allowed.',
    next: later,
  },
  failed: {
    status: 500,
    heading: 'This server could not go on',
    text: 'Nothing was allowed.',
    next: `${connectAgain} If it fails again, tell the operator of this server.`,
  },
}

/**
 * Last page: sends the person back to the client. A redirect would count as part of the form's
 * submission: Chromium blocks it if the client redirects on to another host (CSP 3 §6.4.2), and if
 * it opens an app, the form would stay on the screen.
 */
function returnPage({ name, address }: ReturnModel): OauthPageParts {
  if (runsCode.test(address)) return problemPage({ page: 'problem', problem: 'unsafe_return' })
  const isAllowed = URL.parse(address)?.searchParams.has('code') ?? false
  const heading = isAllowed ? 'Access allowed' : 'Nothing was allowed'
  const program = programName({ name })
  return {
    title: heading,
    // A URL has no line breaks or spaces, so it cannot leave the attribute.
    head: html`<meta http-equiv="refresh" content="0;url=${address}">`,
    content: html`<h1${isAllowed && html` class="allowed"`}>${isAllowed && icon('check')}${heading}</h1>
<div>
<p>${name?.trim() ? program : 'The program'} opens now${placeOf(address)}.</p>
<p>If nothing opens, go back to it yourself. Then you can close this page.</p>
</div>
<div class="buttons"><a class="button primary" href="${address}"><span>Open ${program}</span></a></div>`,
  }
}

/**
 * URL schemes that a browser runs as a script or renders itself, and that no client may redirect
 * to.
 */
const runsCode = /^(javascript|data|vbscript|blob|file|about|view-source):/i

/** Host of a website that opens; the name beside it is only a claim. */
function placeOf(address: string): string {
  const target = redirectTarget(address)
  return target.kind === 'web' ? ` at ${target.host}` : ''
}

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
#key { width: 100%; min-height: 2.75rem; margin-top: var(--space-2); }
#key[aria-invalid=true] { border: 2px solid var(--danger); }
fieldset { min-width: 0; margin: 0; padding: 0; border: 0; }
legend {
  display: flex; flex-wrap: wrap; gap: var(--space-1) var(--space-2); align-items: center;
  padding: 0 0 var(--space-2); font-weight: var(--bold);
}
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
