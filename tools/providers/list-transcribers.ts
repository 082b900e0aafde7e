import { TranscriberCatalog } from '../../src/contract/provider.ts'
import { routes } from '../../src/contract/routes.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import {
  catalogOf,
  catalogOptions,
  catalogSchema,
  shortenCatalog,
  transcriberSortKeys,
  transcriberSorts,
} from './catalog.ts'

export const listTranscribers = defineTool({
  name: 'list_transcribers',
  title: 'List transcribers',
  description:
    'Lists the speech-to-text models an agent can use, by provider, with their languages. Take transcriber.provider and transcriber.model from here.',
  route: routes.providers.transcribers,
  options: catalogOptions(transcriberSorts),
  result: {
    schema: catalogSchema(TranscriberCatalog),
    from: (catalog, _, options) =>
      catalogOf(catalog, {
        ...options,
        shows: ['id', 'name', 'supported_languages.code'],
        sort: options.sort_by && transcriberSortKeys[options.sort_by],
      }),
    shortening: shortenCatalog,
  },
})
