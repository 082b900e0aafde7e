import { ModelCatalog, TranscriberCatalog } from '../src/contract/provider.ts'
import { routes } from '../src/contract/routes.ts'
import { defineTool } from '../src/tool/define-tool.ts'
import {
  catalogOf,
  catalogOptions,
  catalogSchema,
  shortenCatalog,
} from './providers/catalog-result.ts'

/** Sort orders of language models: cheapest, most intelligent or fastest first. */
export const modelSorts = {
  price: 'pricing.additional_cost_per_minute',
  intelligence: '-intelligence_rating',
  latency: 'latency_range.min_ms',
  name: 'name',
}

/** Sort orders of transcribers: most languages first. */
const transcriberSorts = { languages: '-supported_languages', name: 'name' }

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models',
  description:
    'Lists the language models (LLMs) an agent can use, by provider, with ratings and prices. model.provider takes the code of a provider, model.model the id of a model.',
  route: routes.providers.models,
  options: catalogOptions(modelSorts),
  result: {
    schema: catalogSchema(ModelCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: [
          'id',
          'name',
          'recommended',
          'intelligence_rating',
          'latency_rating',
          'latency_range',
          'pricing',
        ],
        sort: options.sort_by && modelSorts[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. transcriber.provider takes the code of a provider, transcriber.model the id of a model.',
  route: routes.providers.transcribers,
  options: catalogOptions(transcriberSorts),
  result: {
    schema: catalogSchema(TranscriberCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: ['id', 'name', 'supported_languages.code'],
        sort: options.sort_by && transcriberSorts[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})
