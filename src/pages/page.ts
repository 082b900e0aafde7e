import { type Html, html } from './html.ts'
import { type Inline, styleOf } from './style.ts'

/** A page, ready to be sent. */
export interface HtmlPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a page is made of. */
export interface PageParts {
  readonly title: string
  readonly content: Html
  readonly head?: Html
  readonly status?: number
  /** Where forms of the page may be sent, as sources of its policy; without it nowhere. */
  readonly formAction?: string
  readonly style?: Inline
  /** Runs when the page is read. It may send requests to this server, and to no other. */
  readonly script?: Inline
  readonly headers?: Readonly<Record<string, string>>
}

const commonStyle = styleOf()

/** One page with its headers. */
export function pageOf({
  title,
  content,
  head,
  status = 200,
  formAction = "'none'",
  style = commonStyle,
  script,
  headers,
}: PageParts): HtmlPage {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(formAction, style, script),
      // Browsers that do not know frame-ancestors.
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The address of a page may be a secret or name a request.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...headers,
    },
    body: document({ title, content, head, script })
      .text.replace('<style></style>', () => `<style>${style.text}</style>`)
      .replace('<script></script>', () => `<script>${script?.text ?? ''}</script>`),
  }
}

/**
 * The document. Style and script are put in as they are, because their hashes are in the policy. Texts
 * from outside are escaped before, so each of the two empty elements occurs once.
 */
const document = ({
  title,
  content,
  head,
  script,
}: {
  title: string
  content: Html
  head: Html | undefined
  script: Inline | undefined
}) => html`<!doctype html>
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
${script && html`<script></script>`}
</body>
</html>
`

/** Nothing is loaded, nothing else runs, and no other site shows the page in a frame. */
function policy(formAction: string, style: Inline, script: Inline | undefined): string {
  return [
    "default-src 'none'",
    `style-src ${style.source}`,
    ...(script ? [`script-src ${script.source}`, "connect-src 'self'"] : []),
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}
