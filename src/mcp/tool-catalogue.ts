import type { Tool as ProtocolTool, ServerOptions } from '@modelcontextprotocol/server'
import { type ViewName, viewMeta } from '../apps/views.ts'
import { type ConfirmMode, listsToken, withoutToken } from '../tool/confirm-mode.ts'
import { jsonSchemaValidator } from '../tool/confirmation-question.ts'
import { type Exposure, listedTools } from './exposure.ts'
import type { Protocol } from './messages.ts'
import { serverOptionsFor } from './server-info.ts'

/** Tools and server options of one exposure. Constant while the server runs. */
export type ToolCatalogue = ReturnType<typeof catalogueOf>

interface ToolCatalogueOptions {
  readonly isSandbox: boolean
  /** Account that the operator has pinned for all sessions. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  /** Verifies the state that a client returns with its answers to questions. */
  readonly requestState: NonNullable<ServerOptions['requestState']>
}

/** Returns the catalogue of an exposure, created at its first use. */
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

function catalogueOf(exposure: Exposure, options: ToolCatalogueOptions) {
  const { account, confirm, requestState } = options
  const accounts = account === undefined ? 'any' : 'pinned'
  const shown = listsToken(confirm) ? (tool: ProtocolTool) => tool : withoutToken
  const optionsOf = (protocol: Protocol) => ({
    ...serverOptionsFor({ ...options, exposure }, protocol),
    jsonSchemaValidator,
    requestState,
  })
  const legacy = optionsOf('2025')
  return {
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    /** Tools for `tools/list`; `views`: with the URIs of their views. */
    listed: (views: boolean) =>
      listedTools(exposure).map((tool) =>
        withView(shown(tool.listed(accounts)), views ? tool.view : undefined),
      ),
    modern: optionsOf('modern'),
    /** For connections of the 2025 revisions. */
    legacy,
    /** For HTTP requests of the 2025 revisions: no client can be notified of changes. */
    statelessLegacy: { ...legacy, capabilities: { ...legacy.capabilities, resources: {} } },
  }
}

/** Adds the URI of the tool's view, if any. */
const withView = (tool: ProtocolTool, view: ViewName | undefined): ProtocolTool =>
  view === undefined ? tool : { ...tool, _meta: viewMeta(view) }
