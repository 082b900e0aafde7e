import { h, listen } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import type { Voice, VoicesData } from './data.ts'
import { languageText } from './filters.ts'
import { mayHaveSample, openSample } from './sample.ts'

/** One entry for each voice, with what can be done with it. */
export const voiceList = (voices: readonly Voice[], page: Page<VoicesData>): HTMLElement =>
  h(
    'ul',
    { class: 'voices', id: 'voices' },
    voices.map((voice, at) => voiceEntry(voice, at, page)),
  )

function voiceEntry(voice: Voice, at: number, page: Page<VoicesData>): HTMLElement {
  const { id, name, provider, language, gender, description } = voice
  const facts = [gender, language && languageText(language, page.formats), provider].filter(Boolean)
  const told = h('p', { role: 'status', class: 'told' })
  const heading = h('h2', { id: `voice-${at}` }, name)
  return h(
    'li',
    { 'aria-labelledby': heading.id },
    heading,
    facts.length > 0 && h('p', { class: 'muted' }, facts.join(' · ')),
    description !== '' && h('p', {}, description),
    id !== '' && h('p', { class: 'muted' }, 'Id ', h('code', {}, id)),
    h(
      'div',
      { class: 'row' },
      mayHaveSample(voice, page) && sampleButton(voice, { at, told, page }),
      id !== '' && page.host.canSendMessages() && useButton(voice, { at, told, page }),
    ),
    told,
  )
}

interface Place {
  readonly at: number
  /** Where the user is told what came of it. */
  readonly told: HTMLElement
  readonly page: Page<VoicesData>
}

function sampleButton(voice: Voice, { at, told, page }: Place): HTMLElement {
  const button = h('button', { id: `sample-${at}`, 'aria-describedby': `voice-${at}` }, 'Listen')
  return listen(button, 'click', async () => {
    told.textContent = 'Looking for the sample …'
    told.textContent = await openSample(voice, page)
  })
}

/** Longest id that is said in the conversation, in characters. */
const longestId = 200

/** Only the ids are said: names and descriptions are texts of other companies. */
function useButton(voice: Voice, { at, told, page: { host } }: Place): HTMLElement {
  const [provider, id] = [voice.provider, voice.id].map((text) =>
    JSON.stringify(text.slice(0, longestId)),
  )
  const button = h(
    'button',
    { id: `use-${at}`, 'aria-describedby': `voice-${at}` },
    'Use this voice',
  )
  return listen(button, 'click', async () => {
    told.textContent = await host
      .sendMessage(`Use this voice: provider ${provider}, voice_id ${id}.`)
      .then(
        () => 'Said so in the conversation.',
        () => 'The host did not pass it on. Name the voice by its id.',
      )
  })
}
