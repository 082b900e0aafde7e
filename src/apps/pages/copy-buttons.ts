import { type Html, html, icon } from './html.ts'

/** A text with its copy button; `what` names it for screen readers. */
export const copied = (text: Html, what: string): Html =>
  html`<div class="copied"><div data-copy="${what}">${text}</div></div>`

/** What `copyScript` needs in the page: the announcement for screen readers, and the icon. */
export const copyParts = html`<p role="status" id="said" class="unseen"></p>
<template id="copy">${icon('copy')}</template>`

/** Style of a copied text: the button stands beside it. */
export const copyStyle = `
.copied {
  display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--space-3); align-items: center;
}
.copied button { min-width: 6rem; border-color: transparent; background: none; color: var(--accent); }
`

/**
 * Adds copy buttons. Outside https and localhost there is no clipboard API: the script selects the
 * text and tries execCommand.
 */
export const copyScript = `
const said = document.getElementById('said')
const copyIcon = document.getElementById('copy').content
function copyButton(label, name, source) {
  const button = document.createElement('button')
  const words = document.createElement('span')
  button.type = 'button'
  button.append(words)
  words.textContent = label
  button.setAttribute('aria-label', name)
  const say = (text) => {
    words.textContent = text
    said.textContent = text + ': ' + source.dataset.copy
    setTimeout(() => { words.textContent = label }, 3000)
  }
  const select = () => {
    const folded = source.closest('details')
    if (folded) folded.open = true
    getSelection().selectAllChildren(source)
    return document.execCommand('copy')
  }
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(source.textContent)
      say('Copied')
    } catch {
      say(select() ? 'Copied' : 'Selected')
    }
  })
  return button
}
for (const source of document.querySelectorAll('[data-copy]')) {
  const button = copyButton('Copy', 'Copy ' + source.dataset.copy, source)
  button.prepend(copyIcon.cloneNode(true))
  if (source.closest('.block')) source.before(button)
  else source.after(button)
}
`
