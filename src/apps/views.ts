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

/*
 * Confirmation in a view, for clients that show views but do not support elicitation. The view shows
 * the preview of a telephone call, archiving or deletion with two buttons. To confirm, it repeats the
 * tool call with a token that is only in the result's `_meta`, where no model reads it.
 */

/** Key in a preview's `_meta` under which its view finds a `DecisionMeta`. */
export const decisionMetaKey = 'voice-agent-mcp/decision'

/** Data with which a view confirms the action of a preview. */
export interface DecisionMeta {
  readonly tool: string
  /** Single-use, until `expires_at`. */
  readonly confirm_token: string
  /** ISO 8601. */
  readonly expires_at: string
  /** The token that came with the request was refused; absent for a new question. */
  readonly refused?: RefusedToken
  /** Whether the effect of the action exists now; absent: not known. */
  readonly is_done?: boolean
}

/** Reasons to refuse a token: `changed` means that the arguments or their effect have changed. */
export type RefusedToken = 'used' | 'expired' | 'changed' | 'unknown'

/**
 * Prefix of a token in a request that only reads: it returns what was done, or whether the token is
 * still valid. A reopened view checks before it offers a button.
 */
export const checkPrefix = 'check:'
