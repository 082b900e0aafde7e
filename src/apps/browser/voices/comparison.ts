import { h, scrolledTable } from '../shared/dom.ts'
import { capitalised, providerName } from '../shared/provider-and-model-names.ts'
import type { Page } from '../shared/view.ts'
import { actions } from './actions.ts'
import { keyOf, type Voice, type VoicesData } from './data.ts'

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

/** The marked voices side by side. */
export function comparison(page: Page<VoicesData>): HTMLElement {
  const voices = markedVoices()
  const status = h('p', { role: 'status', class: 'status muted' })
  const row = (name: string, cellOf: (voice: Voice, at: number) => Node | string) =>
    h(
      'tr',
      {},
      h('th', { scope: 'row', class: 'muted' }, name),
      voices.map((voice, at) => h('td', {}, cellOf(voice, at))),
    )
  return h(
    'section',
    { class: 'comparison', 'aria-label': 'Comparison' },
    scrolledTable({
      id: 'comparison',
      label: 'Marked voices side by side',
      stickyColumn: true,
      head: [
        h('td', {}),
        ...voices.map(({ name }) => h('th', { scope: 'col' }, h('bdi', {}, name))),
      ],
      rows: [
        row('Language', ({ language }) => page.formats.language(language)),
        row('Gender', ({ gender }) => capitalised(gender)),
        row('Provider', ({ provider }) => providerName(provider)),
        row('Description', ({ description }) => h('bdi', {}, description)),
        row('Id', ({ id }) => h('code', {}, id)),
        row('Actions', (voice, at) => actions(voice, { key: `compared-${at}`, status, page })),
      ],
    }),
    status,
  )
}
