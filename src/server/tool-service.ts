import {
  type CallToolResult,
  isInputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import * as z from 'zod'
import packageJson from '../../package.json' with { type: 'json' }
import { tools } from '../../tools/index.ts'
import { exposedTools, type ServiceConfig } from '../cli/config/service-settings.ts'
import { createCancellations } from '../mcp/cancellations.ts'
import type { Exposure } from '../mcp/exposure.ts'
import { createToolCalls } from '../mcp/tool-calls.ts'
import type { Session } from '../platform/sessions/session.ts'
import type { SealingKeys } from '../state/sealing.ts'
import type { State } from '../state/state.ts'
import type { StateError } from '../state/state-access.ts'
import { safeLine } from '../text/safe-text.ts'
import type { ConfirmMode } from '../tool/confirm-mode.ts'
import { createConfirmations, type EarlierQuestion } from '../tool/confirmation.ts'
import { createUsedTokens } from '../tool/single-use-tokens.ts'
import { type Audit, openAudit } from './audit/audit.ts'
import { createCallServices } from './call-services.ts'
import type { Observer } from './observe/observer.ts'
import { openPlatform } from './platform.ts'
import { openSealingKeys } from './secrets.ts'
import { createSessions } from './sessions.ts'
import { openState, openUndoLog } from './state.ts'

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
 * Opens the tools: platform, state, sessions and tool calls, without MCP server and transport. The
 * command line calls tools with this service alone. Throws ConfigError.
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
    callLocally: (call: LocalCall, caller: LocalCaller) =>
      callLocally(call, caller, { ...calls, exposure, sessionFor }),
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

export type PersonsAnswer = 'accept' | 'decline' | 'cancel'

interface LocalCall {
  readonly tool: string
  readonly arguments: Record<string, unknown>
}

/** Callbacks and abort signal of one local tool call. */
interface LocalCaller {
  /**
   * Asks the person; `undefined`: nobody can be asked, so the tool call returns a preview with a
   * token.
   */
  readonly ask: ((question: string) => Promise<PersonsAnswer>) | undefined
  readonly progress: (message: string) => void
  readonly signal: AbortSignal
}

interface LocalCallParts extends Pick<ToolCalling, 'confirmations' | 'toolCalls'> {
  /** The operator's exposure: no headers restrict a local call further. */
  readonly exposure: Exposure
  /** The session for a credential; without one, for the server's own API key. */
  readonly sessionFor: (credential: undefined) => Session
}

/**
 * Calls a tool from this process, with the server's own API key, as the command line does.
 * Confirmation, policy, journal and audit trail are the same as for a client. Only the MCP messages
 * are omitted. Throws ProtocolError for a tool that is unknown or not exposed.
 */
async function callLocally(
  { tool: name, arguments: args }: LocalCall,
  { ask, progress, signal }: LocalCaller,
  { exposure, confirmations, toolCalls, sessionFor }: LocalCallParts,
): Promise<CallToolResult> {
  const session = sessionFor(undefined)
  const tool = exposure.tools.find((one) => one.name === name)
  if (!tool) throw toolCalls.unknownTool(name, exposure, args, { session, sender })
  const run = (earlier: EarlierQuestion) =>
    toolCalls.run(tool, args, {
      ...{ session, sender, signal, tools: exposure.tools, stateless: undefined },
      client: {
        confirmOf: (call) => confirmations.of({ ...call, asksIn: ask && 'form', earlier }),
        progress: (_, message) => progress(safeLine(message)),
        takesTasks: false,
      },
    })
  let result = await run({ requestState: undefined, answers: undefined })
  // The effect of the arguments may have changed since the question. The person is then asked
  // again.
  while (isInputRequiredResult(result)) {
    const { requestState: sealed = '', inputRequests } = result
    const { message } = Question.parse(inputRequests?.confirm).params
    const answers = responsesFor((await ask?.(message)) ?? 'cancel')
    const requestState = await confirmations.verifyRequestState(sealed).catch(lateAnswer)
    result = await run({ requestState, answers })
  }
  return result
}

/** Sender of local tool calls, for the audit trail. */
const sender = () =>
  ({
    transport: 'terminal',
    client: { name: 'voice-agent-mcp call', version: packageJson.version },
    userAgent: undefined,
  }) as const

/** The message of an elicitation request. */
const Question = z.object({ params: z.object({ message: z.string() }) })

const responsesFor = (action: PersonsAnswer) => ({
  confirm: action === 'accept' ? { action, content: { confirm: true } } : { action },
})

function lateAnswer(error: unknown): never {
  if (!(error instanceof Error) || error.message !== 'expired') throw error
  throw new ProtocolError(
    -32602,
    'The answer came too late: a question is valid for eleven minutes. Nothing was done.',
  )
}
