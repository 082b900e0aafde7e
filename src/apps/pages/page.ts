import { createHash } from 'node:crypto'
import { designBase, designTokens } from '../design.ts'
import { type Html, html } from './html.ts'

/** Style of all pages: the base that views share, and the rules of pages. */
const style = `${designTokens}${designBase}
:root { --space-6: 2rem; }
body { font-size: var(--size-3); line-height: 1.5; }
main { max-width: 44rem; margin: 0 auto; container-type: inline-size; padding: var(--space-6) var(--space-4); }
h1 { font-size: var(--size-5); letter-spacing: -.01em; }
p + p, h1 + p { margin-top: var(--space-2); }
label { font-weight: var(--medium); }
.hint { color: var(--muted); font-size: var(--size-2); }
.badge { font-size: var(--size-2); line-height: 1.5; }
p.notice { display: flex; gap: var(--space-2); font-size: var(--size-2); }
p.notice > .icon { margin-top: .25em; }
button, .button { min-height: 2.75rem; padding: var(--space-2) var(--space-4); font-size: var(--size-2); }
.buttons { display: flex; flex-wrap: wrap; gap: var(--space-3); }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`

/** A page's style or script, and the CSP source that allows only this text (CSP 3 §8.3). */
interface Inline {
  readonly text: string
  readonly source: string
}

/**
 * A style or script with its hash. The hash is in the page's policy, so no other style or script
 * runs.
 */
export const inline = (text: string): Inline => ({
  text,
  source: `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
})

/** Style of a page: that of all pages, and its own rules. */
export const styleOf = (own = ''): Inline => inline(own === '' ? style : style + own)

/** A page, ready to be sent. */
export interface HtmlPage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Parts of a page. */
export interface PageParts {
  readonly title: string
  readonly content: Html
  readonly head?: Html
  readonly status?: number
  /** Targets of the page's forms as CSP sources; default: none. */
  readonly formAction?: string
  readonly style?: Inline
  /** Script that runs on load. The page's policy lets it send requests only to this server. */
  readonly script?: Inline
  readonly headers?: Readonly<Record<string, string>>
}

const commonStyle = styleOf()

/** A page with its headers. */
export function pageOf(parts: PageParts): HtmlPage {
  const { status = 200, formAction = "'none'", style = commonStyle, script, headers } = parts
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(formAction, style, script),
      // For browsers that do not support `frame-ancestors` in the policy.
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // The URL of a page may contain a secret or a request's id, so other sites do not receive it.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      ...headers,
    },
    body: document(parts)
      .text.replace('<style></style>', () => `<style>${style.text}</style>`)
      .replace('<script></script>', () => `<script>${script?.text ?? ''}</script>`),
  }
}

/**
 * Builds the document with an empty `style` and an empty `script` element. The caller replaces them
 * by the texts verbatim, because the policy has their hashes. Outside text is escaped, so each
 * empty element occurs exactly once.
 */
const document = ({ title, content, head, script }: PageParts) => html`<!doctype html>
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

/**
 * Content security policy: nothing is loaded, no other script runs, and no other site can frame the
 * page.
 */
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
