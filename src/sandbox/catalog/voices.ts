import type { Voice } from '../../contract/provider.ts'

type Entry = [id: string, name: string, language: string, gender: string, description: string]

const byProvider: Readonly<Record<string, readonly Entry[]>> = {
  elevenlabs: [
    ['sbx-el-ada', 'Ada', 'en-us', 'female', 'Warm and clear, for support.'],
    ['sbx-el-brian', 'Brian', 'en-us', 'male', 'Deep and calm, for narration.'],
    ['sbx-el-clara', 'Clara', 'en-gb', 'female', 'Crisp and friendly, for reception.'],
    ['sbx-el-felix', 'Felix', 'de-de', 'male', 'Confident, for sales.'],
    ['sbx-el-greta', 'Greta', 'de-de', 'female', 'Gentle, for appointments.'],
    ['sbx-el-ines', 'Inés', 'es-es', 'female', 'Lively, for bookings.'],
    ['sbx-el-mateo', 'Mateo', 'es-mx', 'male', 'Relaxed, for support.'],
    ['sbx-el-river', 'River', 'en-us', 'neutral', 'Even and modern, for assistants.'],
  ],
  azure: [
    ['en-US-AvaNeural', 'Ava', 'en-us', 'female', 'Bright, for support.'],
    ['en-US-AndrewNeural', 'Andrew', 'en-us', 'male', 'Friendly, for sales.'],
    ['en-GB-SoniaNeural', 'Sonia', 'en-gb', 'female', 'Polite, for reception.'],
    ['de-DE-KatjaNeural', 'Katja', 'de-de', 'female', 'Clear, for support.'],
    ['de-DE-ConradNeural', 'Conrad', 'de-de', 'male', 'Serious, for reminders.'],
    ['es-ES-ElviraNeural', 'Elvira', 'es-es', 'female', 'Warm, for support.'],
    ['fr-FR-DeniseNeural', 'Denise', 'fr-fr', 'female', 'Soft, for reception.'],
  ],
  cartesia: [
    ['sbx-ca-brooke', 'Brooke', 'en-us', 'female', 'Natural, for support.'],
    ['sbx-ca-carson', 'Carson', 'en-us', 'male', 'Upbeat, for sales.'],
    ['sbx-ca-lena', 'Lena', 'de-de', 'female', 'Natural, for support.'],
    ['sbx-ca-noor', 'Noor', 'en-gb', 'neutral', 'Composed, for assistants.'],
  ],
}

/** Providers the sandbox has voices of. */
export const voiceProviders = Object.keys(byProvider)

/** Voices of one provider; `undefined` when the sandbox does not know it. */
export function voicesOf(provider: string): Voice[] | undefined {
  if (!Object.hasOwn(byProvider, provider)) return undefined
  return byProvider[provider]?.map(([id, name, language, gender, description]) => ({
    id,
    name,
    provider,
    language,
    gender,
    description,
    preview_url: `https://voices.sandbox.example/${provider}/${id}.mp3`,
  }))
}
