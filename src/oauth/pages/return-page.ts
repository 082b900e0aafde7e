import { type Html, html } from '../../pages/html.ts'
import type { HtmlPage } from '../../pages/page.ts'
import { pageOf } from './layout.ts'
import type { ReturnModel } from './models.ts'
import { problemPage } from './problem-page.ts'
import { redirectTarget } from './redirect-target.ts'

/**
 * The last page: it sends the person back to the client. A redirect would still count as a part of
 * sending the form: Chromium stops it where the client sends the person on to another host (CSP 3
 * §6.4.2), and where it opens an app, the form would stay on the screen.
 */
export function returnPage({ address }: ReturnModel): HtmlPage {
  if (runsCode.test(address)) return problemPage({ page: 'problem', problem: 'unsafe_return' })
  const isAllowed = URL.parse(address)?.searchParams.has('code') ?? false
  const heading = isAllowed ? 'Access allowed' : 'Nothing was allowed'
  return pageOf({
    title: heading,
    // A web address has no line break and no space, so this is all of the attribute.
    head: html`<meta http-equiv="refresh" content="0;url=${address}">`,
    content: html`<h1>${heading}</h1>
<p>${whereTo(address)}</p>
<p><a href="${address}">Go back now</a></p>`,
  })
}

/** Addresses that a browser runs or shows as a page of its own. */
const runsCode = /^(javascript|data|vbscript|blob|file|about|view-source):/i

function whereTo(address: string): Html {
  const target = redirectTarget(address)
  if (target.kind === 'web') return html`You are sent back to ${target.host}.`
  if (target.kind === 'this_computer') {
    return html`You are sent back to the program on this computer. Then you can close this page.`
  }
  return html`The app for ${target.scheme} addresses opens. Then you can close this page.`
}
