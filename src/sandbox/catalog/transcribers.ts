import type { TranscriberCatalog } from '../../contract/provider.ts'

const languages = {
  multi: 'Several, mixed',
  'af-za': 'Afrikaans (South Africa)',
  'en-us': 'English (United States)',
  'en-gb': 'English (United Kingdom)',
  'de-de': 'German (Germany)',
  'es-es': 'Spanish (Spain)',
  'es-mx': 'Spanish (Mexico)',
  'fr-fr': 'French (France)',
  'it-it': 'Italian (Italy)',
  'nl-nl': 'Dutch (Netherlands)',
  'pl-pl': 'Polish (Poland)',
  'pt-br': 'Portuguese (Brazil)',
  'ja-jp': 'Japanese (Japan)',
  'hi-in': 'Hindi (India)',
}

type LanguageCode = keyof typeof languages

const speaking = (...codes: LanguageCode[]) =>
  codes.map((code) => ({ code, name: languages[code] }))
const every = Object.entries(languages)
  .filter(([code]) => code !== 'multi')
  .map(([code, name]) => ({ code, name }))

/** Transcribers of the sandbox. */
export const transcribers: TranscriberCatalog = [
  {
    provider: { code: 'deepgram', name: 'Deepgram', eu_hosted: false },
    models: [
      {
        id: 'nova-3:general',
        name: 'Nova 3 General',
        description: 'Low latency, mixes languages; for any subject.',
        supported_languages: speaking('multi', 'en-us', 'en-gb', 'de-de', 'es-es', 'fr-fr'),
      },
      {
        id: 'nova-3',
        name: 'Nova 3',
        description: 'Low latency, mixes languages.',
        supported_languages: speaking(
          'en-us',
          'en-gb',
          'de-de',
          'es-es',
          'es-mx',
          'fr-fr',
          'pt-br',
        ),
      },
      {
        id: 'nova-2',
        name: 'Nova 2',
        description: 'Many languages, one at a time.',
        supported_languages: every,
      },
    ],
  },
  {
    provider: { code: 'azure', name: 'Azure Speech', eu_hosted: true },
    models: [
      {
        id: 'azure-speech',
        name: 'Azure Speech to Text',
        description: 'Hosted in the EU.',
        supported_languages: every,
      },
    ],
  },
  {
    provider: { code: 'cartesia', name: 'Cartesia', eu_hosted: false },
    models: [
      {
        id: 'ink-whisper',
        name: 'Ink Whisper',
        description: 'Tuned for telephony audio.',
        supported_languages: speaking('en-us', 'en-gb', 'de-de', 'es-es', 'fr-fr', 'ja-jp'),
      },
    ],
  },
  {
    provider: { code: 'elevenlabs', name: 'ElevenLabs', eu_hosted: false },
    models: [
      {
        id: 'scribe_v2_realtime',
        name: 'Scribe v2 Realtime',
        description: 'Accurate with names and numbers.',
        supported_languages: every,
      },
    ],
  },
]
