import { h, listen } from '../shared/dom.ts'
import { capitalised, providerName } from '../shared/provider-and-model-names.ts'
import type { Page } from '../shared/view.ts'
import { actions } from './actions.ts'
import { isMarked, mark } from './comparison.ts'
import type { Voice, VoicesData } from './data.ts'

interface ListOptions {
  readonly page: Page<VoicesData>
  /** Called after a voice was marked, or its mark removed. */
  readonly marked: () => void
}

/** One row per voice: checkbox for the comparison, name, facts and buttons. */
export const voiceList = (voices: readonly Voice[], options: ListOptions): HTMLElement =>
  h(
    'ul',
    { class: 'voices', id: 'voices' },
    voices.map((voice, at) => voiceRow(voice, at, options)),
  )

function voiceRow(voice: Voice, at: number, { page, marked }: ListOptions): HTMLElement {
  const { name, description } = voice
  const status = h('p', { role: 'status', class: 'status muted' })
  const heading = h('h2', { id: `voice-${at}` }, h('bdi', {}, name))
  const box = h('input', { type: 'checkbox', id: `mark-${at}`, class: 'mark' })
  box.ariaLabel = `Compare ${name}`
  box.checked = isMarked(voice)
  listen(box, 'change', () => {
    mark(voice, box.checked)
    marked()
  })
  return h(
    'li',
    { 'aria-labelledby': heading.id },
    h('label', { class: 'mark-place' }, box),
    heading,
    description !== '' && h('p', { class: 'description' }, h('bdi', {}, description)),
    h('p', { class: 'about muted' }, factsOf(voice, page).join(' · ')),
    actions(voice, { key: String(at), status, page }),
    status,
  )
}

/** Language, gender and provider in words. */
const factsOf = ({ language, gender, provider }: Voice, { formats }: Page<VoicesData>): string[] =>
  [language && formats.language(language), capitalised(gender), providerName(provider)].filter(
    Boolean,
  )
