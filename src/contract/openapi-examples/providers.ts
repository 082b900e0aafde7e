import type { ModelCatalog, TranscriberCatalog, Voice } from '../provider.ts'
import type { Examples } from './ids.ts'

const models: ModelCatalog = [
  {
    provider: { code: 'openai', name: 'OpenAI', eu_hosted: false },
    models: [{ id: 'gpt-4.1', name: 'GPT-4.1', recommended: true, intelligence_rating: 4 }],
  },
]
const transcribers: TranscriberCatalog = [
  {
    provider: { code: 'deepgram', name: 'Deepgram' },
    models: [
      { id: 'nova-2', name: 'Nova 2', supported_languages: [{ code: 'en-us', name: 'English' }] },
    ],
  },
]
const voice: Voice = {
  id: 'sbx-en-us-ada',
  name: 'Ada',
  provider: 'elevenlabs',
  language: 'en-us',
  gender: 'female',
  description: 'Warm and clear, for support.',
  preview_url: 'https://voices.example.com/elevenlabs/sbx-en-us-ada.mp3',
}

export const providerExamples: Examples = {
  'providers.models.reply': models,
  'providers.transcribers.reply': transcribers,
  'providers.voices.reply': { provider: 'elevenlabs', count: 1, voices: [voice] },
}
