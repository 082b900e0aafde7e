import type {
  Implementation,
  ServerCapabilities,
  ServerOptions,
} from '@modelcontextprotocol/server'
import type { ConfirmMode } from '../call/confirm-mode.ts'
import type { ExposableTool, Exposure } from './exposure.ts'
import { instructionsFor } from './instructions.ts'

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

export interface InstructionsInput {
  readonly isSandbox: boolean
  /** Account that all sessions act on, where the operator has pinned it. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  readonly exposure: Exposure<ExposableTool>
}

/** What this server can do for clients of the 2025 revisions, which know no extensions. */
const capabilities = { tools: {}, resources: { subscribe: true }, prompts: {}, completions: {} }

/** The same by era: calls are followed as tasks by an extension of the later revision. */
export const capabilitiesOf = {
  '2025': capabilities,
  modern: { ...capabilities, extensions: { [tasksExtension]: {} } },
} satisfies Record<'2025' | 'modern', ServerCapabilities>

/** What a client is told when it connects: what this server can do, and how it is worked with. */
export const serverOptionsFor = (greeted: InstructionsInput, era: '2025' | 'modern') =>
  ({
    capabilities: capabilitiesOf[era] as ServerCapabilities,
    instructions: instructionsFor(greeted),
    cacheHints: {
      'tools/list': unchangingCacheHint,
      'prompts/list': unchangingCacheHint,
      'resources/templates/list': unchangingCacheHint,
      'server/discover': unchangingCacheHint,
    },
  }) satisfies ServerOptions
