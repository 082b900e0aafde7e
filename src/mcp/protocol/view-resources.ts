import type { Resource, TextResourceContents } from '@modelcontextprotocol/server'
import { viewTitles } from '../../apps/view-titles.ts'
import { type ViewName, viewMimeType, viewNames, viewUri } from '../../apps/views.ts'

/**
 * What a host has to know before it shows a view: it needs no other origin and no permission. The
 * empty lists are the strictest policy that the specification has.
 */
const _meta = {
  ui: {
    csp: { connectDomains: [], resourceDomains: [], frameDomains: [], baseUriDomains: [] },
    prefersBorder: true,
  },
}

/** The views as clients that show them see them in `resources/list`. */
export const viewResources = (): Resource[] =>
  viewNames.map((name) => ({
    uri: viewUri(name),
    name: `${name}-view`,
    ...viewTitles[name],
    mimeType: viewMimeType,
    _meta,
  }))

/** The HTML of a view, and what a host has to know of it. */
export async function viewContents(view: ViewName): Promise<TextResourceContents> {
  const { readView } = await import('../../apps/read-view.ts')
  return { uri: viewUri(view), mimeType: viewMimeType, text: await readView(view), _meta }
}
