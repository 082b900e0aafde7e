import { type Html, html } from './html.ts'
import type { HtmlPage } from './models.ts'
import { formActionSource } from './redirect-target.ts'
import { style, styleSource } from './style.ts'

/** The document, apart from its style: that is put in as it is, because its hash is in the policy. */
const document = (title: string, content: Html, head: Html | undefined) => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
${head}
<style></style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`

/** One page with its headers. A form on it may be sent to this server, and end at `redirectUri`. */
export function pageOf({
  title,
  content,
  head,
  status = 200,
  redirectUri,
  headers,
}: {
  title: string
  content: Html
  head?: Html
  status?: number
  redirectUri?: string
  headers?: Readonly<Record<string, string>>
}): HtmlPage {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(redirectUri),
      // Browsers that do not know frame-ancestors.
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The address of the page names the request.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...headers,
    },
    body: document(title, content, head).text.replace(
      '<style></style>',
      () => `<style>${style}</style>`,
    ),
  }
}

/** Nothing is loaded, nothing runs, and no other site shows the page in a frame. */
function policy(redirectUri: string | undefined): string {
  const end = redirectUri === undefined ? undefined : formActionSource(redirectUri)
  const formAction = redirectUri === undefined ? "'none'" : ["'self'", end ?? ''].join(' ').trim()
  return [
    "default-src 'none'",
    `style-src ${styleSource}`,
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
