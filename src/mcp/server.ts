import { type McpServerFactory, ProtocolError, Server } from '@modelcontextprotocol/server'
import { type CallContext, callTool } from './call.ts'
import { type Credential, credentialOf } from './credential.ts'
import { instructionsFor } from './instructions.ts'
import { nearest } from './nearest.ts'
import { listResources, readResource, resourceTemplates } from './resources.ts'
import type { Session } from './session.ts'
import type { Tool } from './tool.ts'

export interface ServerOptions {
  readonly tools: readonly Tool[]
  readonly version: string
  readonly isSandbox: boolean
  /** The access of a connection (stdio, no key given) or of an HTTP request. */
  readonly sessionFor: (credential: Credential | undefined) => Session
  readonly onBug: CallContext['onBug']
}

/** How long a client may keep what never changes while this server runs, ms. */
const unchanging = { ttlMs: 3_600_000, cacheScope: 'public' } as const

/**
 * The one factory behind every transport and both protocol eras. It is called for each HTTP
 * request and each stdio connection, so all it does is bind handlers to a session.
 */
export function createServerFactory(options: ServerOptions): McpServerFactory {
  const { tools, isSandbox, version, onBug } = options
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const toolNames = [...byName.keys()]
  const info = {
    name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
    title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
    version,
  }
  const serverOptions = {
    capabilities: { tools: {}, resources: {} },
    instructions: instructionsFor(isSandbox),
    cacheHints: {
      'tools/list': unchanging,
      'resources/templates/list': unchanging,
      'server/discover': unchanging,
    },
  }

  return ({ authInfo }) => {
    const session = options.sessionFor(credentialOf(authInfo))
    const server = new Server(info, serverOptions)
    server.setRequestHandler('tools/list', () => ({
      tools: tools.map((tool) => tool.listed('any')),
    }))
    server.setRequestHandler('tools/call', ({ params }, { mcpReq: { signal } }) => {
      const tool = byName.get(params.name)
      if (!tool) throw unknownTool(params.name, toolNames)
      return callTool(tool, params.arguments ?? {}, {
        session,
        tools,
        signal,
        onBug,
      })
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

function unknownTool(name: string, known: string[]): ProtocolError {
  const meant = nearest(name, known)
  return new ProtocolError(
    -32602,
    `There is no tool ${name}.${meant ? ` Did you mean ${meant}?` : ''}`,
  )
}
