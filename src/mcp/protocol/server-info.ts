import type {
  Implementation,
  ServerCapabilities,
  ServerOptions,
} from '@modelcontextprotocol/server'
import type { Era } from './envelope.ts'
import { type InstructionsInput, instructionsFor } from './instructions.ts'

/** Extension by which a tool may answer with a task (SEP-2663). */
export const tasksExtension = 'io.modelcontextprotocol/tasks'

/**
 * How long a client may keep what never changes while this server runs, ms. It depends on the
 * headers of a request, so it is not to be handed to other clients.
 */
export const unchangingCacheHint = { ttlMs: 3_600_000, cacheScope: 'private' } as const

/** Who this server is, by name. */
export const serverInfoOf = (isSandbox: boolean, version: string): Implementation => ({
  name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
  title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
  version,
})

/** What this server can do for clients of the 2025 revisions, which know no extensions. */
const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} }

/** The same by era: calls are followed as tasks by an extension of the later revision. */
export const capabilitiesOf = {
  '2025': capabilities,
  modern: { ...capabilities, extensions: { [tasksExtension]: {} } },
} satisfies Record<Era, ServerCapabilities>

/** What a client is told when it connects: what this server can do, and how it is worked with. */
export const serverOptionsFor = (input: InstructionsInput, era: Era) =>
  ({
    capabilities: capabilitiesOf[era] as ServerCapabilities,
    instructions: instructionsFor(input),
    cacheHints: {
      'tools/list': unchangingCacheHint,
      'prompts/list': unchangingCacheHint,
      'resources/templates/list': unchangingCacheHint,
      'server/discover': unchangingCacheHint,
    },
  }) satisfies ServerOptions
