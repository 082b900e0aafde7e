import { button, copyButton, selectedText } from '../shared/controls.ts'
import { h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { sampleButton } from '../shared/voice-sample.ts'
import { keyOf, type Voice, VoicesData, voicesIn } from './data.ts'

interface Place {
  /** Suffix of the buttons' ids. */
  readonly key: string
  /** Shows the outcome to the user. */
  readonly status: HTMLElement
  readonly page: Page<VoicesData>
}

/** The button for a voice's sample; false if the voice has none. */
export const voiceSample = (voice: Voice, { key, status, page }: Place): HTMLElement | false =>
  mayHaveSample(voice, page) &&
  sampleButton({
    ...{ id: `sample-${key}`, name: voice.name, status, host: page.host },
    find: async () => voice.sample ?? (await lookUp(voice, page)),
  })

/** The buttons that copy a voice's id and ask for the voice in the conversation. */
export function actions(voice: Voice, { key, status, page }: Place): HTMLElement {
  const { id, name } = voice
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
    'Use in chat',
    async () => {
      status.textContent = await useVoice(voice, page)
    },
    { id: `use-${key}`, class: 'quiet', 'aria-label': `Use in chat: ${name}` },
  )
  return h(
    'div',
    { class: 'actions' },
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
    () => 'The client did not pass it on. Name the voice by its id.',
  )
}

/** Looked-up samples, by voice; `undefined`: the voice has none. */
const known = new Map<string, URL | undefined>()

/** True if the voice has a sample, or one can be looked up. */
const mayHaveSample = (voice: Voice, { host }: Page<VoicesData>): boolean =>
  (voice.sample ?? known.get(keyOf(voice))) !== undefined ||
  (host.canCallTools() && voice.provider !== '' && !known.has(keyOf(voice)))

/**
 * Reads the list again with sample addresses, which results omit because models do not need them.
 * Throws if the host or the server refuses, or if the voice is gone.
 */
async function lookUp(voice: Voice, { host, input }: Page<VoicesData>): Promise<URL | undefined> {
  const key = keyOf(voice)
  if (known.has(key)) return known.get(key)
  const { refresh: _, ...filters } = input
  const result = await host.callTool('list_voices', {
    ...filters,
    provider: voice.provider,
    fields: ['preview_url'],
  })
  const { data } = VoicesData.safeParse(result.structuredContent)
  if (result.isError || !data)
    throw new Error(result.content.map(({ text = '' }) => text).join(' '))
  for (const one of voicesIn(data)) known.set(keyOf(one), one.sample)
  if (!known.has(key)) throw new Error('The list does not have this voice any more.')
  return known.get(key)
}
