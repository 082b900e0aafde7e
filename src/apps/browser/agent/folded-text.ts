import { button } from '../shared/controls.ts'
import { h } from '../shared/dom.ts'

/**
 * Maximum length of a text that is shown in full, characters. The end of a longer text is folded.
 */
const longestOpen = 400

/** Maximum length of a value beside its label on a phone, characters. */
export const longestBeside = 100

/** A text whose end is folded if it is long. */
export function longText(
  text: string,
  id: string,
  nodesOf: (text: string) => readonly (Node | string)[] = (plain) => [plain],
): HTMLElement {
  const name = text.length > longestBeside ? 'value long' : 'value'
  if (text.length <= longestOpen) return h('div', { class: name, dir: 'auto' }, nodesOf(text))
  const cut = /\s\S*$/.exec(text.slice(0, longestOpen))?.index ?? longestOpen
  const [rest, gap] = [h('span', { hidden: true }, nodesOf(text.slice(cut))), h('span', {}, ' …')]
  const shown = h('div', { class: 'value', dir: 'auto' }, nodesOf(text.slice(0, cut)), gap, rest)
  return h('div', { class: 'long' }, shown, wholeTextButton([rest], [gap], `whole-${id}`))
}

/** Shows the folded parts of a text in place of its gaps, and folds them again. */
export function wholeTextButton(
  parts: readonly HTMLElement[],
  gaps: readonly HTMLElement[],
  id: string,
): HTMLElement {
  const toggle = button(
    'Whole text',
    () => {
      const isOpen = toggle.ariaExpanded !== 'true'
      toggle.ariaExpanded = String(isOpen)
      for (const part of parts) part.hidden = !isOpen
      for (const gap of gaps) gap.hidden = isOpen
    },
    { id, class: 'quiet', 'aria-expanded': 'false' },
  )
  return toggle
}
