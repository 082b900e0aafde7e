import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

const voice = (name: string, language: string, gender: string, description: string) => ({
  ...{ id: `${language}-${name.toLowerCase()}`, name, language, gender, description },
  preview_url: `https://samples.example/${name.toLowerCase()}.mp3`,
})

const voices: Readonly<Record<string, readonly object[]>> = {
  elevenlabs: [
    voice('Ada', 'en-us', 'female', 'Warm and clear, for support.'),
    voice('Oliver', 'en-gb', 'male', 'Measured, for banking.'),
  ],
  cartesia: [
    voice('Lena', 'de-de', 'female', 'Natural, for support.'),
    voice('Sage', 'en-us', 'neutral', 'Composed, for assistants.'),
  ],
  azure: [
    voice('Denise', 'fr-fr', 'female', 'Bright, for reservations.'),
    voice('Ryan', 'en-gb', 'male', 'Clear, for support.'),
  ],
}

async function voiceCatalogue() {
  const platform = await startFakePlatform(
    ({ url }, response) => {
      const provider = new URL(url, 'http://platform').searchParams.get('provider') ?? ''
      json(response, 200, { provider, voices: voices[provider] ?? [] })
    },
    { account: pictureAccount },
  )
  return Object.assign(platform, { call: { tool: 'list_voices', args: {} } })
}

export const voicesPictures: readonly Picture[] = [
  { name: 'voices', open: voiceCatalogue, ready: '#voices' },
]
