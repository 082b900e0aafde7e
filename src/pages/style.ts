import { createHash } from 'node:crypto'

/** The style that all pages have in common. */
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

/** A style or script of a page, and the source that allows this text alone in its policy (CSP 3 §8.3). */
export interface Inline {
  readonly text: string
  readonly source: string
}

/** Its hash is in the page's policy, so nothing else of its kind works there. */
export const inline = (text: string): Inline => ({
  text,
  source: `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
})

/** The style of a page: the common one, and what only this page needs. */
export const styleOf = (own = ''): Inline => inline(own === '' ? style : style + own)
