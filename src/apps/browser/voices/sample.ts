import { plainText } from '../../../text/safe-text.ts'
import type { Host } from '../shared/host.ts'
import type { Page } from '../shared/view.ts'
import { keyOf, type Voice, VoicesData, voicesIn } from './data.ts'

/** Lets the host open a sample, because a view has no network access. Returns the message for the user. */
export async function openSample(sample: URL, host: Host): Promise<string> {
  if (!host.canOpenLinks()) return `This host opens no links. The sample: ${sample.href}`
  return host.openLink(sample.href).then(
    () => `Opened at ${sample.host}.`,
    () => `The host did not open the sample: ${sample.href}`,
  )
}

/** Looked-up samples, by voice; `undefined`: the voice has none. */
const known = new Map<string, URL | undefined>()

/** True if the voice has a sample, or one can be looked up. */
export const mayHaveSample = (voice: Voice, { host }: Page<VoicesData>): boolean =>
  (voice.sample ?? known.get(keyOf(voice))) !== undefined ||
  (host.canCallTools() && voice.provider !== '' && !known.has(keyOf(voice)))

/** Opens a voice's sample, looked up if need be. Returns the message for the user. */
export async function listenTo(voice: Voice, page: Page<VoicesData>): Promise<string> {
  try {
    const sample = voice.sample ?? (await lookUp(voice, page))
    return sample ? await openSample(sample, page.host) : 'This voice has no sample.'
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
