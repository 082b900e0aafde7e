import type {
  Implementation,
  Tool as ProtocolTool,
  ServerOptions,
} from '@modelcontextprotocol/server'
import { tasksExtension } from './client-abilities.ts'
import type { Exposure } from './exposure.ts'
import { instructionsFor } from './instructions.ts'
import type { Tool } from './tool.ts'

/** What an assistant is offered under an exposure; nothing in it changes while the server runs. */
export interface Offer {
  readonly exposure: Exposure
  readonly byName: ReadonlyMap<string, Tool>
  readonly listed: () => ProtocolTool[]
  readonly serverOptions: ServerOptions
  /** For connections on which nobody can be told of changes. */
  readonly mute: ServerOptions
}

export interface Offering {
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
}

/** How long a client may keep what never changes while this server runs, ms. */
const unchanging = { ttlMs: 3_600_000, cacheScope: 'public' } as const

/** The same for what depends on the headers of a request: not to be handed to other clients. */
export const unchangingForOne = { ...unchanging, cacheScope: 'private' } as const

/** Who this server is, by name. */
export const serverInfoOf = (isSandbox: boolean, version: string): Implementation => ({
  name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
  title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
  version,
})

/** Offers, made once for each exposure that is in use. */
export function createOffers({ isSandbox, account }: Offering): (exposure: Exposure) => Offer {
  const made = new WeakMap<Exposure, Offer>()
  return (exposure) => {
    const known = made.get(exposure)
    if (known) return known
    const offer = offerOf(exposure, { isSandbox, account })
    made.set(exposure, offer)
    return offer
  }
}

function offerOf(exposure: Exposure, { isSandbox, account }: Offering): Offer {
  const capabilities = {
    tools: {},
    resources: { subscribe: true },
    prompts: {},
    completions: {},
    extensions: { [tasksExtension]: {} },
  }
  const serverOptions = {
    capabilities,
    instructions: instructionsFor({ isSandbox, account, exposure }),
    cacheHints: {
      'tools/list': unchangingForOne,
      'prompts/list': unchanging,
      'resources/templates/list': unchanging,
      'server/discover': unchangingForOne,
    },
  }
  return {
    exposure,
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    listed: () =>
      exposure.tools.map((tool) => tool.listed(account === undefined ? 'any' : 'pinned')),
    serverOptions,
    mute: { ...serverOptions, capabilities: { ...capabilities, resources: {} } },
  }
}
