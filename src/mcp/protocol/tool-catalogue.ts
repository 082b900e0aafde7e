import type { Tool as ProtocolTool, ServerOptions } from '@modelcontextprotocol/server'
import { type ViewName, viewMeta } from '../../apps/views.ts'
import { type ConfirmMode, listsToken, withoutToken } from '../call/confirm-mode.ts'
import { jsonSchemaValidator } from '../call/json-schema-validator.ts'
import type { Tool } from '../call/tool.ts'
import type { Era } from './envelope.ts'
import type { Exposure } from './exposure.ts'
import { serverOptionsFor } from './server-info.ts'

/** The tools and server options of one exposure. They do not change while the server runs. */
export interface ToolCatalogue {
  readonly byName: ReadonlyMap<string, Tool>
  /** The tools as `tools/list` shows them; `views`: with the addresses of their views. */
  readonly listed: (views: boolean) => ProtocolTool[]
  readonly modern: ServerOptions
  /** For connections of the 2025 revisions. */
  readonly legacy: ServerOptions
  /** For HTTP requests of the 2025 revisions: no client can be notified of changes. */
  readonly statelessLegacy: ServerOptions
}

export interface ToolCatalogueOptions {
  readonly isSandbox: boolean
  /** The account that the operator has pinned: all sessions act on it. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  /** Checks the state that a client sends back with its answers to questions. */
  readonly requestState: NonNullable<ServerOptions['requestState']>
}

/** Makes each catalogue once, for as long as its exposure is in use. */
export function createToolCatalogues(
  options: ToolCatalogueOptions,
): (exposure: Exposure) => ToolCatalogue {
  const catalogues = new WeakMap<Exposure, ToolCatalogue>()
  return (exposure) => {
    const known = catalogues.get(exposure)
    if (known) return known
    const catalogue = catalogueOf(exposure, options)
    catalogues.set(exposure, catalogue)
    return catalogue
  }
}

function catalogueOf(exposure: Exposure, options: ToolCatalogueOptions): ToolCatalogue {
  const { account, confirm, requestState } = options
  const view = account === undefined ? 'any' : 'pinned'
  const shown = listsToken(confirm) ? (tool: ProtocolTool) => tool : withoutToken
  const optionsOf = (era: Era) => ({
    ...serverOptionsFor({ ...options, exposure }, era),
    jsonSchemaValidator,
    requestState,
  })
  const legacy = optionsOf('2025')
  return {
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    listed: (views) =>
      exposure.tools.map((tool) =>
        withView(shown(tool.listed(view)), views ? tool.view : undefined),
      ),
    modern: optionsOf('modern'),
    legacy,
    statelessLegacy: { ...legacy, capabilities: { ...legacy.capabilities, resources: {} } },
  }
}

/** A listed tool with the address of its view. */
const withView = (tool: ProtocolTool, view: ViewName | undefined): ProtocolTool =>
  view === undefined ? tool : { ...tool, _meta: viewMeta(view) }
