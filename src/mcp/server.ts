import { type McpServerFactory, ProtocolError, Server } from '@modelcontextprotocol/server'
import { type CallContext, callTool } from './call.ts'
import { type Credential, credentialOf } from './credential.ts'
import type { Exposure, Select } from './exposure.ts'
import { instructionsFor } from './instructions.ts'
import { nearest } from './nearest.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import type { Session } from './session.ts'

export interface ServerOptions {
  /** What is exposed to a connection or an HTTP request, by the request's headers. */
  readonly select: Select
  readonly version: string
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
  /** The access of a connection (stdio, no key given) or of an HTTP request. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly onBug: CallContext['onBug']
}

/** How long a client may keep what never changes while this server runs, ms. */
const unchanging = { ttlMs: 3_600_000, cacheScope: 'public' } as const

/** The same for what depends on the headers of a request: not to be handed to other clients. */
const unchangingForOne = { ...unchanging, cacheScope: 'private' } as const

/**
 * The one factory behind every transport and both protocol eras. It is called for each HTTP
 * request and each stdio connection, so all it does is bind handlers to a session.
 */
export function createServerFactory(options: ServerOptions): McpServerFactory {
  const { select, isSandbox, version, onBug } = options
  const info = {
    name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
    title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
    version,
  }
  const viewOf = viewsFor(options)

  return ({ authInfo, requestInfo }) => {
    const selected = select((name) => requestInfo?.headers.get(name) ?? undefined)
    // The transport has answered such a request already.
    if (!selected.ok)
      throw new Error(`A refused request got past the transport: ${selected.message}`)
    const { exposure } = selected
    const { tools } = exposure
    const view = viewOf(exposure)
    const session = options.sessionFor(credentialOf(authInfo))
    const server = new Server(info, view.serverOptions)
    server.setRequestHandler('tools/list', () => ({ tools: view.listed() }))
    server.setRequestHandler('tools/call', ({ params }, { mcpReq: { signal } }) => {
      const tool = view.byName.get(params.name)
      if (!tool) throw noSuchTool(params.name, exposure)
      return callTool(tool, params.arguments ?? {}, { session, tools, signal, onBug })
    })
    server.setRequestHandler('resources/list', ({ params }, { mcpReq: { signal } }) =>
      listResources({ session, onBug }, params?.cursor, signal),
    )
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates }))
    server.setRequestHandler('resources/read', ({ params }, { mcpReq: { signal } }) =>
      readResource({ session, onBug }, params.uri, signal),
    )
    return server
  }
}

/** What follows from an exposure, made once for each that is in use. */
function viewsFor({ isSandbox, account }: ServerOptions) {
  const made = new WeakMap<Exposure, ReturnType<typeof make>>()
  const make = (exposure: Exposure) => ({
    byName: new Map(exposure.tools.map((tool) => [tool.name, tool])),
    listed: () =>
      exposure.tools.map((tool) => tool.listed(account === undefined ? 'any' : 'pinned')),
    serverOptions: {
      capabilities: { tools: {}, resources: {} },
      instructions: instructionsFor({ isSandbox, account, exposure }),
      cacheHints: {
        'tools/list': unchangingForOne,
        'resources/templates/list': unchanging,
        'server/discover': unchangingForOne,
      },
    },
  })
  return (exposure: Exposure) => {
    const view = made.get(exposure) ?? make(exposure)
    made.set(exposure, view)
    return view
  }
}

function noSuchTool(name: string, { tools, hidden }: Exposure): ProtocolError {
  const reason = hidden.get(name)
  if (reason) return new ProtocolError(-32602, `The tool ${name} is not exposed by ${reason}.`)
  const shown = name.slice(0, 64)
  const names = tools.map((tool) => tool.name)
  const meant = nearest(shown, names)
  const hint = meant ? ` Did you mean ${meant}?` : ''
  return new ProtocolError(-32602, `There is no tool ${shown}.${hint}`)
}
