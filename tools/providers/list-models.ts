import { ModelCatalog } from '../../src/contract/provider.ts'
import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  catalogOf,
  catalogOptions,
  catalogSchema,
  modelSortKeys,
  modelSorts,
  shortenCatalog,
} from './catalog.ts'

export const listModels = defineTool({
  name: 'list_models',
  title: 'List language models',
  description:
    'Lists the language models an agent can use, by provider, with ratings and prices. Take model.provider and model.model from here.',
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
        sort: options.sort_by && modelSortKeys[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})
