import type { Voice } from '../contract/provider.ts'

type VoiceRow = [
  name: string,
  gender: 'male' | 'female' | 'neutral',
  description: string,
  /** An id used in the platform's own examples; the others are made up. */
  id?: string,
]

/** Made-up voices, by provider and language; ids are built from the same words. */
const catalog: Readonly<Record<string, Readonly<Record<string, readonly VoiceRow[]>>>> = {
  elevenlabs: {
    'en-us': [
      ['Ada', 'female', 'Warm and clear, for support.'],
      ['Brian', 'male', 'Deep and calm, for narration.'],
      ['River', 'neutral', 'Even and modern, for assistants.'],
      ['Maya', 'female', 'Bright and quick, for sales.'],
      ['Iris', 'female', 'Soft and friendly, for hospitality.', 'pMsXgVXv3BLzUgSXRplE'],
    ],
    'en-gb': [
      ['Clara', 'female', 'Crisp and friendly, for reception.'],
      ['Oliver', 'male', 'Measured, for banking.'],
      ['Imogen', 'female', 'Cheerful, for surveys.'],
    ],
    'de-de': [
      ['Felix', 'male', 'Confident, for sales.'],
      ['Greta', 'female', 'Gentle, for appointments.'],
      ['Jonas', 'male', 'Friendly, for support.'],
    ],
    'es-es': [
      ['Inés', 'female', 'Lively, for bookings.'],
      ['Álvaro', 'male', 'Serious, for reminders.'],
    ],
    'es-mx': [
      ['Mateo', 'male', 'Relaxed, for support.'],
      ['Lucía', 'female', 'Warm, for sales.'],
    ],
    'fr-fr': [
      ['Camille', 'female', 'Soft, for reception.'],
      ['Hugo', 'male', 'Clear, for support.'],
    ],
    'it-it': [
      ['Chiara', 'female', 'Bright, for bookings.'],
      ['Marco', 'male', 'Warm, for support.'],
    ],
    'pt-br': [
      ['Beatriz', 'female', 'Lively, for sales.'],
      ['Thiago', 'male', 'Relaxed, for support.'],
    ],
    'nl-nl': [['Sanne', 'female', 'Clear, for appointments.']],
  },
  azure: {
    'en-us': [
      ['Ava', 'female', 'Bright, for support.'],
      ['Andrew', 'male', 'Friendly, for sales.'],
      ['Emma', 'female', 'Calm, for health care.'],
    ],
    'en-gb': [
      ['Sonia', 'female', 'Polite, for reception.'],
      ['Ryan', 'male', 'Clear, for support.'],
    ],
    'de-de': [
      ['Katja', 'female', 'Clear, for support.'],
      ['Conrad', 'male', 'Serious, for reminders.'],
      ['Seraphina', 'female', 'Warm, for hospitality.'],
    ],
    'es-es': [
      ['Elvira', 'female', 'Warm, for support.'],
      ['Saúl', 'male', 'Calm, for banking.'],
    ],
    'fr-fr': [
      ['Denise', 'female', 'Soft, for reception.'],
      ['Henri', 'male', 'Steady, for reminders.'],
    ],
    'it-it': [
      ['Elsa', 'female', 'Clear, for support.'],
      ['Diego', 'male', 'Friendly, for bookings.'],
    ],
    'nl-nl': [
      ['Colette', 'female', 'Friendly, for support.'],
      ['Maarten', 'male', 'Calm, for reminders.'],
    ],
    'pl-pl': [
      ['Zofia', 'female', 'Bright, for sales.'],
      ['Marek', 'male', 'Clear, for support.'],
    ],
    'ja-jp': [
      ['Nanami', 'female', 'Polite, for reception.'],
      ['Keita', 'male', 'Steady, for support.'],
    ],
    'hi-in': [['Swara', 'female', 'Warm, for support.']],
  },
  cartesia: {
    'en-us': [
      ['Brooke', 'female', 'Natural, for support.'],
      ['Carson', 'male', 'Upbeat, for sales.'],
      ['Sage', 'neutral', 'Composed, for assistants.'],
      ['Harper', 'female', 'Confident, for recruiting.'],
    ],
    'en-gb': [
      ['Noor', 'neutral', 'Composed, for assistants.'],
      ['Alfie', 'male', 'Cheerful, for deliveries.'],
    ],
    'de-de': [
      ['Lena', 'female', 'Natural, for support.'],
      ['Tobias', 'male', 'Calm, for appointments.'],
      ['Mika', 'neutral', 'Even, for assistants.'],
    ],
    'es-es': [
      ['Carmen', 'female', 'Clear, for support.'],
      ['Pablo', 'male', 'Friendly, for bookings.'],
    ],
    'es-mx': [
      ['Ximena', 'female', 'Lively, for sales.'],
      ['Diego', 'male', 'Warm, for support.'],
    ],
    'fr-fr': [
      ['Élise', 'female', 'Gentle, for reception.'],
      ['Lucas', 'male', 'Upbeat, for surveys.'],
    ],
    'pt-br': [
      ['Larissa', 'female', 'Bright, for support.'],
      ['Rafael', 'male', 'Calm, for banking.'],
    ],
    'ja-jp': [
      ['Yuki', 'female', 'Polite, for reception.'],
      ['Haruto', 'male', 'Clear, for support.'],
    ],
    'hi-in': [['Ananya', 'female', 'Friendly, for sales.']],
  },
}

export const catalogVoiceProviders = Object.keys(catalog)

/** Voices of a provider; `undefined` if unknown. */
export function voicesOf(provider: string): Voice[] | undefined {
  const languages = Object.hasOwn(catalog, provider) ? catalog[provider] : undefined
  return (
    languages &&
    Object.entries(languages).flatMap(([language, entries]) =>
      entries.map(([name, gender, description, own]) => {
        const id = own ?? `sbx-${language}-${asciiOf(name)}`
        const preview_url = `https://voices.sandbox.example/${provider}/${id}.mp3`
        return { id, name, provider, language, gender, description, preview_url }
      }),
    )
  )
}

/** ASCII form: `Élise` → `elise`. */
const asciiOf = (name: string) =>
  name
    .normalize('NFD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
