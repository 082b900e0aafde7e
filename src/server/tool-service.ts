import packageJson from '../../package.json' with { type: 'json' }
import { tools } from '../../tools/index.ts'
import { exposedTools, type ServiceConfig } from '../cli/config/service-settings.ts'
import { createCancellations } from '../mcp/cancellations.ts'
import { createLocalCalls } from '../mcp/local-tool-calls.ts'
import { createToolCalls } from '../mcp/tool-calls.ts'
import type { SealingKeys } from '../state/sealing.ts'
import type { State } from '../state/state.ts'
import type { StateError } from '../state/state-access.ts'
import type { ConfirmMode } from '../tool/confirm-mode.ts'
import { createConfirmations } from '../tool/confirmation.ts'
import { createUsedTokens } from '../tool/single-use-tokens.ts'
import { type Audit, openAudit } from './audit/audit.ts'
import { createCallServices } from './call-services.ts'
import type { Observer } from './observe/observer.ts'
import { openPlatform } from './platform.ts'
import { openSealingKeys } from './secrets.ts'
import { createSessions } from './sessions.ts'
import { openState, openUndoLog } from './state.ts'

/** Client in the audit trail for tool calls from the command line. */
const terminalClient = { name: 'voice-agent-mcp call', version: packageJson.version }

/** Callbacks and signals of the program that calls tools. */
export interface ToolServiceEvents {
  /** Called with every unexpected error, which is a bug of this program. */
  readonly onBug: (error: unknown) => void
  /** Fires when the stdio client has disconnected, or the server is stopping. */
  readonly shutdown?: AbortSignal
  /** Log, metrics and traces; `undefined`: none. */
  readonly observer?: Observer | undefined
  /** Called with messages for the operator about the audit trail. */
  readonly onAuditTrouble?: (message: string) => void
  /** Called with every state failure of a request. */
  readonly onStateTrouble?: (message: string) => void
  /** Called when a platform reply differs from the documented API; once per difference. */
  readonly onReplyDrift?: (message: string) => void
  /** Origin of the sandbox's web call pages. Without it, nobody can join web calls. */
  readonly webCallPagesAt?: () => string | undefined | Promise<string | undefined>
}

export type ToolService = Awaited<ReturnType<typeof openToolService>>

/**
 * Opens the tools: platform, state, sessions and tool calls, without a protocol. The command line
 * calls tools with this service alone. Throws ConfigError.
 */
export async function openToolService(config: ServiceConfig, events: ToolServiceEvents) {
  const { scope, calling } = config
  const { onBug, observer, onAuditTrouble = onBug, onReplyDrift, webCallPagesAt } = events
  const isSandbox = config.platform.kind === 'sandbox'
  const exposure = exposedTools(tools, scope.exposure)
  const sealingKeys = openSealingKeys(config.state)
  const state = await openState(config.state, isSandbox)
  const audit = openAudit(config.audit, state.audit, onAuditTrouble)
  const callServices = createCallServices(calling, state, { observer, audit })
  const platform = await openPlatform(config.platform, onBug, webCallPagesAt)
  const sessionFor = createSessions({
    platform,
    callServices,
    undoLog: openUndoLog(config.state, state.undo, sealingKeys),
    config,
    broadcast: state.broadcast,
    observer,
    audit,
    onReplyDrift,
  })
  const { confirm } = calling
  const { records, broadcast } = state
  const calls = createToolCalling({ confirm, records, broadcast, sealingKeys, audit, ...events })
  return {
    ...calls,
    ...{ exposure, isSandbox, sealingKeys, state, platform, sessionFor },
    /** Calls a tool from the command line, with the server's own API key. */
    callLocally: createLocalCalls({
      ...calls,
      exposure,
      session: () => sessionFor(undefined),
      client: terminalClient,
    }),
    async close() {
      await audit?.close()
      await state.close()
      await platform.close()
    },
  }
}

interface ToolCallingOptions extends ToolServiceEvents, Pick<State, 'records' | 'broadcast'> {
  readonly confirm: ConfirmMode
  readonly sealingKeys: SealingKeys
  /** The audit trail of changes; `undefined`: nothing is recorded. */
  readonly audit?: Audit | undefined
}

export type ToolCalling = ReturnType<typeof createToolCalling>

/** Creates tool calls with their confirmations and cancellations. */
export function createToolCalling(options: ToolCallingOptions) {
  const { confirm, records, broadcast, sealingKeys } = options
  const { observer, onBug, onStateTrouble = onBug } = options
  const confirmations = createConfirmations(confirm, {
    usedTokens: createUsedTokens(records),
    sealingKeys,
  })
  const cancellations = createCancellations(broadcast)
  const onStateFailure = ({ message, isTemporary }: StateError) => {
    observer?.stateFailed(isTemporary ? 'away' : 'broken')
    onStateTrouble(message)
  }
  const toolCalls = createToolCalls({ ...options, cancellations, onStateFailure })
  return { confirmations, cancellations, toolCalls }
}
