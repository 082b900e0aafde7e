import * as z from 'zod'
import { ModelCatalog, TranscriberCatalog, voicesIn } from '../src/contract/provider.ts'
import { routes } from '../src/contract/routes.ts'
import { defineTool } from '../src/mcp/call/define-tool.ts'
import { catalogOf, catalogOptions, catalogSchema, shortenCatalog } from '../src/views/catalog.ts'
import { fieldsOption, isSelection, project, selectionNote } from '../src/views/fields.ts'
import { listDefaults } from '../src/views/list.ts'
import { shortenArray } from '../src/views/shorten-result.ts'

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models (LLM, AI, GPT): cheapest, quickest, smartest, price per minute',
  description:
    'Lists the language models an agent can use, by provider, with ratings and prices. Take model.provider and model.model from here.',
  route: routes.providers.models,
  options: catalogOptions,
  result: {
    schema: catalogSchema(ModelCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, options, [
        'id',
        'name',
        'recommended',
        'intelligence_rating',
        'latency_rating',
        'pricing',
      ]),
    shortening: shortenCatalog,
  },
})

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers: speech to text (STT), speech recognition, languages understood',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. Take transcriber.provider and transcriber.model from here.',
  route: routes.providers.transcribers,
  options: catalogOptions,
  result: {
    schema: catalogSchema(TranscriberCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, options, ['id', 'name', 'supported_languages.code']),
    shortening: shortenCatalog,
  },
})

export const listVoices = defineTool({
  name: 'list_voices',
  title: 'List voices: male or female, language, accent, such as those of ElevenLabs or Azure',
  description:
    'Lists the voices of one provider, live, filtered by language, gender or words. Take voice.voice_id from here.',
  route: routes.providers.voices,
  options: fieldsOption,
  defaults: listDefaults,
  result: {
    schema: z.looseObject({
      returned: z.int().describe('How many are here.'),
      note: z.string().optional().describe('What was left out, and how to get it.'),
      voices: z.array(z.unknown()).describe('The voices.'),
    }),
    from(catalog, { query }, { fields = [] }) {
      const voices = voicesIn(catalog) ?? []
      const { items: _, voices: __, ...rest } = Array.isArray(catalog) ? {} : { ...catalog }
      const isFull = voices.length >= Number(query.limit)
      const views = voices.map((voice) => viewOf(voice, fields))
      const note = [
        isFull && 'There may be more: narrow by language or search, or raise limit.',
        views.some(({ isPart }) => isPart) && selectionNote,
      ].filter(Boolean)
      return {
        ...rest,
        returned: voices.length,
        ...(note.length > 0 && { note: note.join(' ') }),
        voices: views.map(({ shown }) => shown),
      }
    },
    shortening: shortenArray('voices', ({ note }, kept) => ({
      returned: kept,
      note: [note, 'Shortened: narrow by language, gender or search.'].filter(Boolean).join(' '),
    })),
  },
})

/** The shape of a voice is not published, so only what is known to be bulky is left out. */
function viewOf(voice: unknown, fields: readonly string[]): { shown: unknown; isPart: boolean } {
  const Voice = z.record(z.string(), z.unknown())
  const parsed = Voice.safeParse(voice)
  if (!parsed.success) return { shown: voice, isPart: false }
  const plain = Object.entries(parsed.data).filter(
    ([name, value]) => typeof value !== 'object' && !name.endsWith('_url'),
  )
  const paths = [...plain.map(([name]) => name), ...fields]
  return { shown: project(parsed.data, paths), isPart: isSelection([parsed.data], paths) }
}
