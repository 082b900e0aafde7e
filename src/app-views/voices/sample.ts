import { plainText } from '../../text/plain-text.ts'
import type { Page } from '../shared/view.ts'
import { keyOf, type Voice, VoicesData, voicesIn } from './data.ts'

/** Samples that were looked up, by voice; `undefined`: the voice has none. */
const known = new Map<string, URL | undefined>()

/** Whether a sample of this voice is there, or can be looked up. */
export const mayHaveSample = (voice: Voice, { host }: Page<VoicesData>): boolean =>
  (voice.sample ?? known.get(keyOf(voice))) !== undefined ||
  (host.canCallTools() && voice.provider !== '' && !known.has(keyOf(voice)))

/**
 * Asks the host to open the sample of a voice, since the page itself may ask no network. Returns what
 * to tell the user.
 */
export async function openSample(voice: Voice, page: Page<VoicesData>): Promise<string> {
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
 * Lists leave addresses out, which models need not read: the list is read again with them. Throws if
 * the host or the server refuses, or if the voice is gone: voices come and go.
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
