import { inline, styleOf } from '../../pages/style.ts'

export const style = styleOf(`
main { max-width: 44rem; }
.good { color: var(--good); }
.bad { color: var(--bad); }
:root { --good: #116329; }
@media (prefers-color-scheme: dark) { :root { --good: #7ee2a8; } }
code { font: .9em/1.5 ui-monospace, monospace; }
.copied { display: flex; flex-wrap: wrap; gap: .5rem; align-items: start; margin: 0 0 1rem; }
.copied > :first-child {
  flex: 1 1 16rem; min-width: 0; margin: 0; padding: .5rem .75rem; background: var(--page);
  border: 1px solid var(--line); border-radius: .4rem;
}
pre { white-space: pre-wrap; }
details { border-top: 1px solid var(--line); }
details:last-of-type { border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
summary { padding: .75rem .25rem; font-weight: 600; cursor: pointer; }
details > :not(summary) { margin-left: .25rem; }
.install {
  display: inline-block; padding: .5rem 1.25rem; color: var(--on-accent); background: var(--accent);
  border-radius: .4rem; font-weight: 600; text-decoration: none;
}
`)

/**
 * A button to copy beside each text that is made for it. Outside https and localhost a page has no
 * clipboard: there the text is selected, and the older command tried.
 */
export const script = inline(`
for (const code of document.querySelectorAll('[data-copy]')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.textContent = 'Copy'
  button.setAttribute('aria-label', 'Copy ' + code.dataset.copy)
  const say = (text) => {
    button.textContent = text
    document.getElementById('said').textContent = text + ': ' + code.dataset.copy
    setTimeout(() => { button.textContent = 'Copy' }, 3000)
  }
  const select = () => {
    getSelection().selectAllChildren(code)
    return document.execCommand('copy')
  }
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(code.textContent)
      say('Copied')
    } catch {
      say(select() ? 'Copied' : 'Selected')
    }
  })
  code.closest('.copied').append(button)
}
`)
