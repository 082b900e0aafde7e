import { json, startFakePlatform } from '../harness/fake-platform.ts'
import { type Picture, pictureAccount } from './picture.ts'

type VoiceRow = readonly [name: string, language: string, gender: string, description: string]

const voice = (provider: string, [name, language, gender, description]: VoiceRow) => ({
  ...{ id: `${provider.slice(0, 2)}-${language}-${name.toLowerCase()}-pMsXgVXv3BL` },
  ...{ name, language, gender, description },
  preview_url: `https://samples.example/${name.toLowerCase()}.mp3`,
})

const catalogue: Readonly<Record<string, readonly VoiceRow[]>> = {
  elevenlabs: [
    ['Ada', 'en-us', 'female', 'Warm and clear, for support.'],
    ['Brian', 'en-us', 'male', 'Deep and calm, for narration.'],
    ['Oliver', 'en-gb', 'male', 'Measured, for banking.'],
    ['Greta', 'de-de', 'female', 'Gentle, for appointments.'],
    ['Inés', 'es-es', 'female', 'Lively, for bookings.'],
    ['Camille', 'fr-fr', 'female', 'Soft, for reception.'],
  ],
  cartesia: [
    ['Lena', 'de-de', 'female', 'Natural, for support.'],
    ['Sage', 'en-us', 'neutral', 'Composed, for assistants.'],
    ['Marco', 'it-it', 'male', 'Warm, for support.'],
    ['Thiago', 'pt-br', 'male', 'Relaxed, for support.'],
  ],
  azure: [
    ['Denise', 'fr-fr', 'female', 'Bright, for reservations.'],
    ['Ryan', 'en-gb', 'male', 'Clear, for support.'],
    ['نورة', 'ar-sa', 'female', 'هادئة وواضحة، للدعم.'],
    ['Sanne', 'nl-nl', 'female', 'Clear, for appointments.'],
  ],
}

async function voiceCatalogue() {
  const platform = await startFakePlatform(
    ({ url }, response) => {
      const { searchParams } = new URL(url, 'http://platform')
      const provider = searchParams.get('provider') ?? ''
      const wanted = searchParams.get('language')
      const rows = (catalogue[provider] ?? []).filter(
        ([, language]) => !searchParams.has('search') && (wanted ?? language) === language,
      )
      json(response, 200, { provider, voices: rows.map((row) => voice(provider, row)) })
    },
    { account: pictureAccount },
  )
  return Object.assign(platform, { call: { tool: 'list_voices', args: {} } })
}

export const voicesPictures: readonly Picture[] = [
  { name: 'voices', open: voiceCatalogue, ready: '#voices' },
  {
    ...{ name: 'voices-bounded', open: voiceCatalogue, ready: '#voices' },
    context: { containerDimensions: { maxHeight: 640 } },
  },
  {
    name: 'voices-compared',
    open: voiceCatalogue,
    ready: '#comparison',
    async act(view) {
      await view.run()
      await view.frame.waitForSelector('#voices')
      for (const at of [0, 4, 8]) await view.frame.click(`#mark-${at}`)
      await view.frame.click('#compare')
    },
  },
  {
    name: 'voices-filtered',
    open: voiceCatalogue,
    ready: '#voices',
    async act(view) {
      await view.run()
      await view.frame.waitForSelector('#voices')
      await view.frame.selectOption('#language', 'de-de')
      await view.frame.waitForSelector('#count:text-is("2 voices.")')
    },
  },
  {
    name: 'voices-sample',
    open: voiceCatalogue,
    context: { withoutLinks: true },
    ready: '#voices',
    // Each change of the theme draws the list anew.
    async point(view) {
      await view.frame.click('#sample-0')
      await view.frame.waitForSelector('#address-sample-0')
    },
  },
  {
    name: 'voices-none',
    open: voiceCatalogue,
    ready: '.state',
    async act(view) {
      await view.run()
      await view.frame.waitForSelector('#voices')
      await view.frame.fill('#search', 'robot')
      await view.page.keyboard.press('Enter')
      await view.frame.waitForSelector('#count:text-is("0 voices.")')
    },
  },
]
