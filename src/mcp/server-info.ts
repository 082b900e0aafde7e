import type {
  Implementation,
  ServerCapabilities,
  ServerOptions,
} from '@modelcontextprotocol/server'
import { type InstructionsInput, instructionsFor } from './instructions.ts'
import type { Protocol } from './messages.ts'

/** Extension by which a tool may answer with a task (SEP-2663). */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Extension for workflows that a client reads as resources (SEP-2640). */
const skillsExtension = 'io.modelcontextprotocol/skills'

/**
 * Cache hint, ms, for results that do not change while this server runs. Private, because they
 * depend on the headers of the request.
 */
export const unchangingCacheHint = { ttlMs: 3_600_000, cacheScope: 'private' } as const

export const serverInfoOf = (isSandbox: boolean, version: string): Implementation => ({
  name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
  title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
  version,
})

const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} }

export const capabilitiesOf = {
  // Only revision 2026-07-28 has results that are tasks.
  '2025': { ...capabilities, extensions: { [skillsExtension]: {} } },
  modern: { ...capabilities, extensions: { [tasksExtension]: {}, [skillsExtension]: {} } },
} satisfies Record<Protocol, ServerCapabilities>

/** The SDK's options: capabilities, instructions and cache hints. */
export const serverOptionsFor = (input: InstructionsInput, protocol: Protocol) =>
  ({
    capabilities: capabilitiesOf[protocol] as ServerCapabilities,
    instructions: instructionsFor(input),
    cacheHints: {
      'tools/list': unchangingCacheHint,
      'prompts/list': unchangingCacheHint,
      'resources/templates/list': unchangingCacheHint,
      'server/discover': unchangingCacheHint,
    },
  }) satisfies ServerOptions
