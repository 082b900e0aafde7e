/*
 * Interactive views of results (MCP Apps, specification 2026-01-26). A client with the extension
 * renders the HTML file of a tool's view and passes it the result. The files are built from
 * src/apps/browser and loaded on the first read.
 */

/** Extension that a client declares if it shows views. */
export const viewExtension = 'io.modelcontextprotocol/ui'

export const viewMimeType = 'text/html;profile=mcp-app'

/** Names of the views. A tool names its view in its definition. */
export const viewNames = ['usage', 'call', 'voices', 'agent', 'decision'] as const

export type ViewName = (typeof viewNames)[number]

export const viewUri = (name: ViewName): string => `ui://voice-agents/${name}.html`

/** The view of a URI, if any. */
export const viewAt = (uri: string): ViewName | undefined =>
  viewNames.find((name) => viewUri(name) === uri)

/** A tool's `_meta` for its view. */
export const viewMeta = (name: ViewName) => ({ ui: { resourceUri: viewUri(name) } })

/**
 * True if a client's capabilities declare views of this kind. A client that lists no MIME types
 * supports the only one.
 */
export function declaresViews(capabilities: unknown): boolean {
  const declared = memberOf(memberOf(capabilities, 'extensions'), viewExtension)
  if (typeof declared !== 'object' || declared === null) return false
  const kinds = memberOf(declared, 'mimeTypes')
  return !Array.isArray(kinds) || kinds.includes(viewMimeType)
}

/** Reads a property without a schema, because this runs for each list of tools. */
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** Titles of the views. */
export const viewTitles: Readonly<
  Record<ViewName, { readonly title: string; readonly description: string }>
> = {
  usage: {
    title: 'Usage over time',
    description: 'Usage as a chart, with the same figures in a table.',
  },
  call: {
    title: 'A call',
    description: 'A call as a timeline with its transcript; one that goes on is followed.',
  },
  voices: {
    title: 'Voices',
    description: 'Voices to choose from, with filters and samples to listen to.',
  },
  agent: {
    title: 'An agent',
    description: 'An agent as a card, with what changed before and after; many agents at once too.',
  },
  decision: {
    title: 'A decision',
    description:
      'A change that needs confirmation, with its facts and two buttons; then its outcome.',
  },
}
