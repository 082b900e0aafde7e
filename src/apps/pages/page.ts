import { createHash } from 'node:crypto'
import { designBase, designTokens } from '../design.ts'

/** HTML in which all outside text is escaped. Only the template tag `html` creates such a value. */
export class Html {
  readonly text: string
  private constructor(text: string) {
    this.text = text
  }

  /** Template tag: escapes text, keeps HTML, and drops `undefined` and `false`. */
  static readonly tag = (ours: TemplateStringsArray, ...parts: readonly Part[]): Html =>
    new Html(ours.reduce((text, words, at) => `${text}${partText(parts[at - 1])}${words}`))
}

export const html = Html.tag

type Part = Html | string | number | false | undefined | readonly Html[]

function partText(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('\n')
  return String(part).replaceAll(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`)
}

/** Style of all pages, on top of the one that views have, too. */
const style = `${designTokens}${designBase}
:root { --card: var(--page); }
body { padding: var(--space-5) var(--space-4); background: var(--raised); font-size: var(--size-3); line-height: 1.5; }
main {
  max-width: 34rem; margin: var(--space-5) auto; padding: var(--space-6); background: var(--card);
  border: 1px solid var(--line); border-radius: var(--radius-3);
}
h1 { margin: 0 0 var(--space-4); font-size: var(--size-5); }
h2 { margin: var(--space-5) 0 var(--space-2); }
p { margin: 0 0 var(--space-4); }
dl { margin: 0 0 var(--space-4); display: grid; grid-template-columns: auto 1fr; gap: var(--space-1) var(--space-4); }
dt { color: var(--muted); }
dd { font-weight: var(--medium); }
label { display: block; font-weight: var(--medium); }
.hint { margin: var(--space-1) 0; color: var(--muted); font-size: var(--size-2); font-weight: 400; }
.note, .error { padding: var(--space-3) var(--space-4); border-radius: var(--radius-2); }
.note { color: var(--warning); background: var(--warning-page); }
.error { color: var(--danger); background: var(--danger-page); font-weight: var(--medium); }
input[type=password], input[type=text] { width: 100%; background: var(--card); }
input[aria-invalid=true] { border: 2px solid var(--danger); }
fieldset { margin: 0 0 var(--space-4); padding: 0; border: 0; }
legend { padding: 0; font-weight: var(--bold); }
.choice { display: grid; grid-template-columns: 1.5rem 1fr; gap: var(--space-2); padding: var(--space-2) 0; }
.choice input { width: 1.25rem; height: 1.25rem; margin: .15rem 0 0; accent-color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: var(--space-3); margin-top: var(--space-5); }
button, .button { min-height: 2.75rem; padding: var(--space-2) 1.25rem; }
@media (max-width: 30rem) {
  body { padding: 0; background: var(--card); }
  main { margin: 0; border: 0; border-radius: 0; padding: var(--space-5) var(--space-4); }
  .buttons > * { flex: 1 1 100%; }
}
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

/** Style of a page: the common one plus its own. */
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
      // For browsers without frame-ancestors.
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      // A page's address may be a secret or name a request.
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
 * Builds the document. Style and script are inserted verbatim, because their hashes are in the
 * policy. Outside text is escaped before, so each of the two empty elements occurs once.
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

/** Nothing is loaded, nothing else runs, and no other site can frame the page. */
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
