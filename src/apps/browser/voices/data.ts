import * as z from 'zod/mini'
import { plainText } from '../../../text/safe-text.ts'
import { lenient, lenientOr } from '../shared/lenient-schemas.ts'

/** Result of list_voices, as far as the view shows it. */
export const VoicesData = z.looseObject({
  note: z.optional(z.string()),
  /** The provider of all voices, if the tool call named one. */
  provider: lenient(z.string()),
  providers: z.optional(
    z.array(z.looseObject({ provider: z.string(), failed: z.optional(z.string()) })),
  ),
  voices: z.array(z.unknown()),
})
export type VoicesData = z.output<typeof VoicesData>

/** Absent, null and mistyped values become ''. */
const text = lenientOr(
  z.pipe(
    z.string(),
    z.transform((value) => plainText(value)),
  ),
  '',
)

/** Voices are live data of other companies in any shape; missing fields are not shown. */
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
  /** Address of the voice's sample; `undefined` if unknown. */
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

/** URL of a sample; `undefined` unless it is https. */
function sampleAt(address: string): URL | undefined {
  const url = URL.canParse(address) ? new URL(address) : undefined
  return url?.protocol === 'https:' ? url : undefined
}

/** Unique key of a voice over all providers. */
export const keyOf = ({ provider, id, name }: Voice): string =>
  JSON.stringify([provider, id || name])

/** Whether voices were left out, according to the result's note. */
export function leftOut({ note = '' }: VoicesData): {
  /** True: voices were left out; narrower filters would show them. */
  readonly isPart: boolean
  /** A larger limit would show more: the result has room. */
  readonly canShowMore: boolean
} {
  const isShortened = /Shortened/.test(note)
  const isLimited = /There may be more/.test(note)
  return { isPart: isShortened || isLimited, canShowMore: isLimited && !isShortened }
}
