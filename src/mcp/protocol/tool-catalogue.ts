import type { Tool as ProtocolTool, ServerOptions } from '@modelcontextprotocol/server'
import { type ConfirmMode, listsToken, withoutToken } from '../call/confirm-mode.ts'
import type { Tool } from '../call/tool.ts'
import { jsonSchemaValidator } from '../call/validator.ts'
import type { Exposure } from './exposure.ts'
import { serverOptionsFor } from './server-info.ts'

/** What an assistant is offered under an exposure; nothing in it changes while the server runs. */
export interface ToolCatalogue {
  readonly byName: ReadonlyMap<string, Tool>
  readonly listed: () => ProtocolTool[]
  readonly modern: ServerOptions
  /** For connections of the 2025 revisions. */
  readonly legacy: ServerOptions
  /** For requests of theirs over HTTP: nobody can be told of changes. */
  readonly statelessLegacy: ServerOptions
}

export interface ToolCatalogueOptions {
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  /** Opens what a client sends back of an earlier answer. */
  readonly requestState: NonNullable<ServerOptions['requestState']>
}

/** Offers, made once for each exposure that is in use. */
export function createToolCatalogues(
  options: ToolCatalogueOptions,
): (exposure: Exposure) => ToolCatalogue {
  const made = new WeakMap<Exposure, ToolCatalogue>()
  return (exposure) => {
    const known = made.get(exposure)
    if (known) return known
    const catalogue = catalogueOf(exposure, options)
    made.set(exposure, catalogue)
    return catalogue
  }
}

function catalogueOf(exposure: Exposure, options: ToolCatalogueOptions): ToolCatalogue {
  const { account, confirm, requestState } = options
  const view = account === undefined ? 'any' : 'pinned'
  const shown = listsToken(confirm) ? (tool: ProtocolTool) => tool : withoutToken
  const optionsOf = (era: 'modern' | '2025') => ({
    ...serverOptionsFor({ ...options, exposure }, era),
    jsonSchemaValidator,
    requestState,
  })
  const legacy = optionsOf('2025')
  return {
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    listed: () => exposure.tools.map((tool) => shown(tool.listed(view))),
    modern: optionsOf('modern'),
    legacy,
    statelessLegacy: { ...legacy, capabilities: { ...legacy.capabilities, resources: {} } },
  }
}
