import { createHash } from 'node:crypto'

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

/** Style of all pages. */
const style = `
:root {
  color-scheme: light dark;
  --text: #1b1f24; --soft: #57606a; --page: #f6f8fa; --card: #fff; --line: #8c959f;
  --accent: #0550ae; --on-accent: #fff; --bad: #a40e26; --bad-page: #fff0f0;
  --warn: #633c01; --warn-page: #fff8c5;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #e6edf3; --soft: #a3adb8; --page: #0d1117; --card: #161b22; --line: #7d8590;
    --accent: #79b8ff; --on-accent: #06162b; --bad: #ff9d96; --bad-page: #3a1618;
    --warn: #f2cc60; --warn-page: #2e2508;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
main {
  max-width: 32rem; margin: 2rem auto; padding: 1.5rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem;
}
h1 { margin: 0 0 1rem; font-size: 1.35rem; line-height: 1.3; }
h2 { margin: 1.5rem 0 .5rem; font-size: 1rem; }
p { margin: 0 0 1rem; }
dl { margin: 0 0 1rem; display: grid; grid-template-columns: auto 1fr; gap: .25rem 1rem; }
dt { color: var(--soft); }
dd { margin: 0; font-weight: 600; }
label { display: block; font-weight: 600; }
.hint { color: var(--soft); font-size: .9rem; font-weight: 400; margin: .25rem 0; }
.note, .error { padding: .75rem 1rem; border-left: .25rem solid; border-radius: .25rem; }
.note { color: var(--warn); background: var(--warn-page); }
.error { color: var(--bad); background: var(--bad-page); font-weight: 600; }
input[type=password] {
  width: 100%; padding: .6rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem;
}
input[aria-invalid=true] { border: 2px solid var(--bad); }
fieldset { margin: 0 0 1rem; padding: 0; border: 0; }
legend { padding: 0; font-weight: 600; }
.choice { display: grid; grid-template-columns: 1.5rem 1fr; gap: .5rem; padding: .6rem 0; }
.choice input { width: 1.25rem; height: 1.25rem; margin: .15rem 0 0; accent-color: var(--accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.25rem; }
button {
  min-height: 2.75rem; padding: .5rem 1.25rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--text); background: none; border: 1px solid var(--line); border-radius: .4rem;
}
a { color: var(--accent); }
button.main { color: var(--on-accent); background: var(--accent); border-color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
@media (max-width: 30rem) {
  body { padding: 0; }
  main { margin: 0; min-height: 100vh; border: 0; border-radius: 0; padding: 1.25rem; }
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
