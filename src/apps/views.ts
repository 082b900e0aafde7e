/*
 * Interactive views of results (MCP Apps, specification 2026-01-26): a client that has the extension
 * shows the HTML file of a tool's view and hands it the result. The files are built from src/apps/browser;
 * nothing of them is loaded before a client reads one.
 */

/** The extension by which a client says that it shows views. */
export const viewExtension = 'io.modelcontextprotocol/ui'

export const viewMimeType = 'text/html;profile=mcp-app'

/** The views. A tool names its view in its record. */
export const viewNames = ['usage', 'call', 'voices', 'agent'] as const

export type ViewName = (typeof viewNames)[number]

export const viewUri = (name: ViewName): string => `ui://voice-agents/${name}.html`

/** The view at an address, if there is one. */
export const viewAt = (uri: string): ViewName | undefined =>
  viewNames.find((name) => viewUri(name) === uri)

/** What a tool's `_meta` says of its view. */
export const viewMeta = (name: ViewName) => ({ ui: { resourceUri: viewUri(name) } })

/**
 * Whether the capabilities of a client say that it shows views of this kind. One that lists no kinds
 * shows the only one there is.
 */
export function declaresViews(capabilities: unknown): boolean {
  const declared = memberOf(memberOf(capabilities, 'extensions'), viewExtension)
  if (typeof declared !== 'object' || declared === null) return false
  const kinds = memberOf(declared, 'mimeTypes')
  return !Array.isArray(kinds) || kinds.includes(viewMimeType)
}

/** A plain look: it runs for each list of tools. */
const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined

/** What people read of each view. */
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
}
