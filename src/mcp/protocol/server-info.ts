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
 * For results that do not change while this server runs: how long, in ms, a client may reuse them.
 * They depend on the headers of the request, so no other client may use them.
 */
export const unchangingCacheHint = { ttlMs: 3_600_000, cacheScope: 'private' } as const

export const serverInfoOf = (isSandbox: boolean, version: string): Implementation => ({
  name: isSandbox ? 'voice-agent-mcp-sandbox' : 'voice-agent-mcp',
  title: isSandbox ? 'Voice agents (SANDBOX)' : 'Voice agents',
  version,
})

/** The capabilities in the 2025 revisions, which have no extensions. */
const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} }

/** The capabilities by era. */
export const capabilitiesOf = {
  '2025': capabilities,
  modern: { ...capabilities, extensions: { [tasksExtension]: {} } },
} satisfies Record<Era, ServerCapabilities>

/** The SDK's options: capabilities, instructions, and how long results may be reused. */
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
