import { routes } from '../contract/routes.ts'
import { models } from './catalog/models.ts'
import { transcribers } from './catalog/transcribers.ts'
import { catalogVoiceProviders, voicesOf } from './catalog/voices.ts'
import { on } from './handler.ts'
import { invalid } from './problem.ts'

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

/** `de` finds `de-de`; case and the kind of dash do not matter. */
function matchesLanguage(language: string | null | undefined, wanted: string): boolean {
  const [have = '', want] = [language ?? '', wanted].map((text) =>
    text.toLowerCase().replace('_', '-'),
  )
  return have === want || have.startsWith(`${want}-`)
}
