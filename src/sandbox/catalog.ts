import type { ModelCatalog, TranscriberCatalog } from '../contract/provider.ts'
import { routes } from '../contract/routes.ts'
import { on } from './operation-handler.ts'
import { invalid } from './problem.ts'
import { catalogVoiceProviders, voicesOf } from './voices.ts'

export const providerHandlers = [
  on(routes.providers.models, () => models),

  on(routes.providers.transcribers, () => transcribers),

  on(routes.providers.voices, ({ query }) => {
    const { provider, language, gender, search, limit } = query
    const voices = voicesOf(provider)
    if (!voices) {
      const known = catalogVoiceProviders.join(', ')
      throw invalid('query.provider', `No voices of ${provider}: known are ${known}.`)
    }
    const words = search?.toLowerCase()
    const matching = voices.filter(
      (voice) =>
        (language === undefined || matchesLanguage(voice.language, language)) &&
        (gender === undefined || voice.gender === gender) &&
        (words === undefined || `${voice.name} ${voice.description}`.toLowerCase().includes(words)),
    )
    return { provider, count: matching.length, voices: matching.slice(0, limit) }
  }),
]

/** True if a language matches: `de` matches `de-de`. Ignores case and the kind of dash. */
function matchesLanguage(language: string | null | undefined, wanted: string): boolean {
  const [have = '', want] = [language ?? '', wanted].map((text) =>
    text.toLowerCase().replace('_', '-'),
  )
  return have === want || have.startsWith(`${want}-`)
}

const model = (
  id: string,
  name: string,
  [intelligence, latency]: [number, number],
  more: { description: string; recommended?: boolean; costPerMinute: number; tier: string },
): ModelCatalog[number]['models'][number] => ({
  id,
  name,
  description: more.description,
  recommended: more.recommended ?? false,
  intelligence_rating: intelligence,
  latency_rating: latency,
  latency_range: { min_ms: 1300 - latency * 220, max_ms: 2400 - latency * 350 },
  pricing: { tier: more.tier, additional_cost_per_minute: more.costPerMinute },
  settings: {
    temperature: { min: 0, max: 2, default: 0.7 },
    max_tokens: { min: 1, max: 4096, default: 512 },
  },
})

const fast = { tier: 'basic', costPerMinute: 0 }
const standard = { tier: 'standard', costPerMinute: 0.01 }
const premium = { tier: 'premium', costPerMinute: 0.04 }

/**
 * Language models of the sandbox: a selection, not a mirror of the real catalog. Ids are those in
 * the client libraries' types [R].
 */
const models: ModelCatalog = [
  {
    provider: { code: 'openai', name: 'OpenAI', eu_hosted: false },
    models: [
      model('gpt-4.1', 'GPT-4.1', [4, 3], {
        ...standard,
        description: 'Balanced default.',
        recommended: true,
      }),
      model('gpt-4.1-mini', 'GPT-4.1 mini', [3, 4], { ...fast, description: 'Quick and cheap.' }),
      model('gpt-5-mini', 'GPT-5 mini', [4, 3], {
        ...standard,
        description: 'Small, and careful.',
      }),
      model('gpt-4o', 'GPT-4o', [4, 3], { ...standard, description: 'General purpose.' }),
      model('gpt-4o-mini', 'GPT-4o mini', [3, 4], { ...fast, description: 'Small and quick.' }),
    ],
  },
  {
    provider: { code: 'azure_openai', name: 'Azure OpenAI', eu_hosted: true },
    models: [
      model('gpt-5-mini', 'GPT-5 mini (EU)', [4, 3], {
        ...standard,
        description: 'Small and careful, hosted in the EU.',
      }),
      model('gpt-4.1-2025-04-14', 'GPT-4.1 (EU)', [4, 3], {
        ...standard,
        description: 'Hosted in the EU.',
      }),
      model('gpt-4o-mini-2024-07-18', 'GPT-4o mini (EU)', [3, 4], {
        ...fast,
        description: 'Small and quick, hosted in the EU.',
      }),
    ],
  },
  {
    provider: { code: 'anthropic', name: 'Anthropic', eu_hosted: false },
    models: [
      model('claude-sonnet-4-20250514', 'Claude Sonnet 4', [5, 2], {
        ...premium,
        description: 'Careful with long instructions.',
      }),
      model('claude-3-5-haiku-20241022', 'Claude 3.5 Haiku', [4, 4], {
        ...standard,
        description: 'Quick answers.',
        recommended: true,
      }),
    ],
  },
  {
    provider: { code: 'groq', name: 'Groq', eu_hosted: false },
    models: [
      model('llama-3.3-70b-versatile', 'Llama 3.3 70B', [3, 5], {
        ...fast,
        description: 'Open weights on fast inference.',
      }),
    ],
  },
  {
    provider: { code: 'custom', name: 'OpenAI-compatible endpoint', eu_hosted: null },
    models: [
      {
        id: 'custom',
        name: 'Your own endpoint',
        description: 'Any endpoint that speaks the OpenAI chat completions protocol.',
        recommended: false,
        intelligence_rating: null,
        latency_rating: null,
        latency_range: null,
        pricing: null,
        settings: null,
      },
    ],
  },
]

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

/**
 * Transcribers of the sandbox; ids are those in the client libraries' types, where they exist [R].
 */
const transcribers: TranscriberCatalog = [
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
        id: 'nova-2:phonecall',
        name: 'Nova 2 Phone Call',
        description: 'Tuned for telephony audio.',
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
        id: 'nova-2:general',
        name: 'Nova 2 General',
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
