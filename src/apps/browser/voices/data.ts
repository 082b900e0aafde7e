import * as z from 'zod/mini'
import { plainText } from '../../../text/safe-text.ts'

/** What list_voices returns, as far as the view shows it. */
export const VoicesData = z.looseObject({
  note: z.optional(z.string()),
  /** The provider, where one alone was asked. */
  provider: z.catch(z.optional(z.string()), undefined),
  providers: z.optional(
    z.array(z.looseObject({ provider: z.string(), failed: z.optional(z.string()) })),
  ),
  voices: z.array(z.unknown()),
})
export type VoicesData = z.output<typeof VoicesData>

/** Absent, null and values of other types are an empty text. */
const text = z.catch(
  z.pipe(
    z.string(),
    z.transform((value) => plainText(value)),
  ),
  '',
)

/** Voices are live data of other companies, of any shape: what is missing is not shown. */
const RawVoice = z.looseObject({
  id: text,
  voice_id: text,
  name: text,
  provider: text,
  language: text,
  gender: text,
  description: text,
  preview_url: text,
})

export interface Voice {
  readonly id: string
  readonly name: string
  readonly provider: string
  readonly language: string
  readonly gender: string
  readonly description: string
  /** Where its sample is; `undefined`: none is known. */
  readonly sample: URL | undefined
}

export const voicesIn = ({ voices, provider = '' }: VoicesData): Voice[] =>
  voices.flatMap((raw) => {
    const { data } = RawVoice.safeParse(raw)
    if (!data) return []
    const id = data.id || data.voice_id
    if (!id && !data.name) return []
    const { name, language, gender, description } = data
    const sample = sampleAt(data.preview_url)
    return {
      ...{ id, name: name || id, provider: data.provider || plainText(provider) },
      ...{ language, gender, description, sample },
    }
  })

/** The address of a sample. Addresses that are not of the web are none. */
function sampleAt(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url?.protocol === 'https:' ? url : undefined
}

/** Tells voices of all providers apart. */
export const keyOf = ({ provider, id, name }: Voice): string =>
  JSON.stringify([provider, id || name])

/** Whether voices were left out, as the note says it. */
export function leftOut({ note = '' }: VoicesData): {
  /** Narrower filters would show them. */
  readonly isPart: boolean
  /** A larger limit would, too: the answer has room for more. */
  readonly canShowMore: boolean
} {
  const isShortened = /Shortened/.test(note)
  const isLimited = /There may be more/.test(note)
  return { isPart: isShortened || isLimited, canShowMore: isLimited && !isShortened }
}
