import { button, copyButton, h, icon, selectedText } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import type { Voice, VoicesData } from './data.ts'
import { listenTo, mayHaveSample } from './sample.ts'

interface Place {
  /** Suffix of the buttons' ids. */
  readonly key: string
  /** Shows the outcome to the user. */
  readonly status: HTMLElement
  readonly page: Page<VoicesData>
}

/** Buttons of a voice: listen to its sample, copy its id, use it. */
export function actions(voice: Voice, { key, status, page }: Place): HTMLElement {
  const { id, name } = voice
  const listen = button(
    icon('play'),
    async () => {
      status.textContent = 'Looking for the sample …'
      status.textContent = await listenTo(voice, page)
    },
    {
      ...{ id: `sample-${key}`, class: 'icon-button' },
      ...{ 'aria-label': `Listen to ${name}`, title: 'Listen' },
    },
  )
  const copy = copyButton({
    ...{ id: `copy-${key}`, what: `the id of ${name}` },
    reveal() {
      const code = h('code', {}, id)
      status.replaceChildren('Id ', code)
      return code
    },
    done(isCopied) {
      if (isCopied) status.textContent = 'The id is copied.'
      else status.append(` ${selectedText}`)
    },
  })
  const use = button(
    'Use',
    async () => {
      status.textContent = await useVoice(voice, page)
    },
    { id: `use-${key}`, class: 'quiet', 'aria-label': `Use ${name}`, title: 'Use this voice' },
  )
  return h(
    'div',
    { class: 'actions' },
    mayHaveSample(voice, page) && listen,
    id !== '' && copy,
    id !== '' && page.host.canSendMessages() && use,
  )
}

/** Maximum length of an id in a message, characters. */
const longestId = 200

/**
 * Sends a message that asks for the voice; returns the message for the user. It contains only ids,
 * because names and descriptions are untrusted text.
 */
function useVoice(voice: Voice, { host }: Page<VoicesData>): Promise<string> {
  const [provider, id] = [voice.provider, voice.id].map((text) =>
    JSON.stringify(text.slice(0, longestId)),
  )
  return host.sendMessage(`Use this voice: provider ${provider}, voice_id ${id}.`).then(
    () => 'Said so in the conversation.',
    () => 'The host did not pass it on. Name the voice by its id.',
  )
}
