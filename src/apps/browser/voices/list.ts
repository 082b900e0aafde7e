import { plainText } from '../../../text/safe-text.ts'
import { h, listen } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { keyOf, type Voice, VoicesData, voicesIn } from './data.ts'
import { languageText } from './filters.ts'

/** One entry per voice, with its actions. */
export const voiceList = (voices: readonly Voice[], page: Page<VoicesData>): HTMLElement =>
  h(
    'ul',
    { class: 'voices', id: 'voices' },
    voices.map((voice, at) => voiceEntry(voice, at, page)),
  )

function voiceEntry(voice: Voice, at: number, page: Page<VoicesData>): HTMLElement {
  const { id, name, provider, language, gender, description } = voice
  const facts = [gender, language && languageText(language, page.formats), provider].filter(Boolean)
  const status = h('p', { role: 'status', class: 'status' })
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
      mayHaveSample(voice, page) && sampleButton(voice, { at, status, page }),
      id !== '' && page.host.canSendMessages() && useButton(voice, { at, status, page }),
    ),
    status,
  )
}

interface Place {
  readonly at: number
  /** Shows the outcome to the user. */
  readonly status: HTMLElement
  readonly page: Page<VoicesData>
}

function sampleButton(voice: Voice, { at, status, page }: Place): HTMLElement {
  const button = h('button', { id: `sample-${at}`, 'aria-describedby': `voice-${at}` }, 'Listen')
  return listen(button, 'click', async () => {
    status.textContent = 'Looking for the sample …'
    status.textContent = await openSample(voice, page)
  })
}

/** Maximum length of an id in a message, characters. */
const longestId = 200

/** The message contains only the ids: names and descriptions are untrusted text. */
function useButton(voice: Voice, { at, status, page: { host } }: Place): HTMLElement {
  const [provider, id] = [voice.provider, voice.id].map((text) =>
    JSON.stringify(text.slice(0, longestId)),
  )
  const button = h(
    'button',
    { id: `use-${at}`, 'aria-describedby': `voice-${at}` },
    'Use this voice',
  )
  return listen(button, 'click', async () => {
    status.textContent = await host
      .sendMessage(`Use this voice: provider ${provider}, voice_id ${id}.`)
      .then(
        () => 'Said so in the conversation.',
        () => 'The host did not pass it on. Name the voice by its id.',
      )
  })
}

/** Looked-up samples, by voice; `undefined`: the voice has none. */
const known = new Map<string, URL | undefined>()

/** True if the voice has a sample, or one can be looked up. */
const mayHaveSample = (voice: Voice, { host }: Page<VoicesData>): boolean =>
  (voice.sample ?? known.get(keyOf(voice))) !== undefined ||
  (host.canCallTools() && voice.provider !== '' && !known.has(keyOf(voice)))

/**
 * Lets the host open a voice's sample, because the page has no network access. Returns the message
 * for the user.
 */
async function openSample(voice: Voice, page: Page<VoicesData>): Promise<string> {
  try {
    const sample = voice.sample ?? (await lookUp(voice, page))
    if (!sample) return 'This voice has no sample.'
    if (!page.host.canOpenLinks()) return `This host opens no links. The sample: ${sample.href}`
    return await page.host.openLink(sample.href).then(
      () => `Opened at ${sample.host}.`,
      () => `The host did not open the sample: ${sample.href}`,
    )
  } catch (error) {
    const why = error instanceof Error ? plainText(error.message).slice(0, 300) : ''
    return `The sample could not be looked up. ${why}`
  }
}

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
