import { capitalised } from '../../../text/labels.ts'
import { providerName } from '../shared/display-names.ts'
import { h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { keyOf, type Voice, type VoicesData } from './data.ts'
import { actions, voiceSample } from './voice-buttons.ts'

/** Maximum voices in a comparison. */
export const maxMarked = 3

const marks = new Map<string, Voice>()

export const isMarked = (voice: Voice): boolean => marks.has(keyOf(voice))

/** Marks a voice for the comparison, or removes its mark. Marks outlive a change of the filters. */
export function mark(voice: Voice, isWanted: boolean): void {
  if (!isWanted) marks.delete(keyOf(voice))
  else if (marks.size < maxMarked) marks.set(keyOf(voice), voice)
}

/** Marked voices, in the order of their marks. */
export const markedVoices = (): readonly Voice[] => [...marks.values()]

/**
 * A table of the marked voices side by side. On a phone, the name of a row is above its values; the
 * explicit roles keep it a table there.
 */
export function comparison(page: Page<VoicesData>): HTMLElement {
  const voices = markedVoices()
  const status = h('p', { role: 'status', class: 'status muted' })
  const row = (name: Node | string, cellOf: (voice: Voice, at: number) => Node | string) =>
    h(
      'tr',
      { role: 'row' },
      h('th', { scope: 'row', role: 'rowheader' }, name),
      voices.map((voice, at) => h('td', { role: 'cell' }, cellOf(voice, at))),
    )
  const buttons = (voice: Voice, at: number) => {
    const place = { key: `compared-${at}`, status, page }
    return h('div', { class: 'row' }, voiceSample(voice, place), actions(voice, place))
  }
  const section = h(
    'section',
    { class: 'comparison', 'aria-label': 'Comparison' },
    h(
      'table',
      { id: 'comparison', role: 'table', 'aria-label': 'Marked voices side by side' },
      h(
        'thead',
        { role: 'rowgroup' },
        h(
          'tr',
          { role: 'row' },
          h('td', { role: 'cell' }),
          voices.map(({ name }) =>
            h('th', { scope: 'col', role: 'columnheader' }, h('bdi', {}, name)),
          ),
        ),
      ),
      h(
        'tbody',
        { role: 'rowgroup' },
        row('Language', ({ language }) => page.formats.language(language)),
        row('Gender', ({ gender }) => capitalised(gender)),
        row('Provider', ({ provider }) => providerName(provider)),
        row('Description', ({ description }) => h('bdi', {}, description)),
        row('Id', ({ id }) => h('code', {}, id)),
        row(h('span', { class: 'hidden' }, 'Actions'), buttons),
      ),
    ),
    status,
  )
  section.style.setProperty('--voices', String(voices.length))
  return section
}
