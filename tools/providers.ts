import * as z from 'zod'
import { ModelCatalog, TranscriberCatalog, voicesIn } from '../src/contract/provider.ts'
import { routes } from '../src/contract/routes.ts'
import { defineTool } from '../src/mcp/tool.ts'

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models',
  description:
    'Lists the language models an agent can use, by provider, with ratings, prices and ranges. Take model.provider and model.model from here.',
  route: routes.providers.models,
  result: {
    schema: z.looseObject({ providers: ModelCatalog.describe('Providers with their models.') }),
    from: (providers) => ({ providers }),
  },
})

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. Take transcriber.provider and transcriber.model from here.',
  route: routes.providers.transcribers,
  result: {
    schema: z.looseObject({
      providers: TranscriberCatalog.describe('Providers with their transcribers.'),
    }),
    from: (providers) => ({ providers }),
  },
})

export const listVoices = defineTool({
  name: 'list_voices',
  title: 'List voices',
  description:
    'Lists the voices of one provider, live, filtered by language, gender or words. Take voice.voice_id from here.',
  route: routes.providers.voices,
  result: {
    schema: z.looseObject({ voices: z.array(z.unknown()).describe('The voices.') }),
    from(catalog) {
      if (Array.isArray(catalog)) return { voices: catalog }
      const { items, ...rest } = catalog
      const voices = voicesIn(catalog) ?? []
      return voices === items ? { ...rest, voices } : { ...catalog, voices }
    },
  },
})
