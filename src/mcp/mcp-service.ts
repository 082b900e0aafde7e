import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Audit } from '../audit/audit.ts'
import type { Observer } from '../observe/observer.ts'
import { createCancelledTasks } from '../state/cancelled-tasks.ts'
import type { Changes } from '../state/changes.ts'
import type { Records } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing-keys.ts'
import { createUsedTokens } from '../state/used-tokens.ts'
import type { ConfirmMode } from './call/confirm-mode.ts'
import { createConfirmations } from './call/confirmation.ts'
import { taskTtlMs } from './call/task.ts'
import { createHttpFastPath, type HttpFastPath } from './fast/http-fast-path.ts'
import { auditedCall, auditedCalls } from './protocol/audited-calls.ts'
import { createCancellations } from './protocol/cancellation.ts'
import { type CallLocally, createLocalCalls } from './protocol/local-calls.ts'
import { createMissingScopes, type MissingScopes } from './protocol/missing-scopes.ts'
import {
  createRequestObserving,
  createStreamObserving,
  type ObserveStream,
} from './protocol/observed-request.ts'
import { createServerFactory, type ServerFactoryOptions } from './protocol/server.ts'
import { serverInfoOf } from './protocol/server-info.ts'
import { createToolCalls } from './protocol/tool-calls.ts'
import { createToolCatalogues } from './protocol/tool-catalogue.ts'
import type { OnUnknownTool } from './protocol/unknown-tool.ts'
import { type NewSession, newSession } from './protocol/view-sessions.ts'
import { type CountWaits, createWaitCount } from './protocol/waits.ts'

/** What the audit trail names as the client where the command line calls a tool. */
const terminalClient = 'voice-agent-mcp call'

export interface McpServiceOptions
  extends Pick<
    ServerFactoryOptions,
    'exposureFor' | 'sessionFor' | 'prompts' | 'callTaskView' | 'onBug' | 'onServer' | 'isAnswered'
  > {
  readonly version: string
  readonly isSandbox: boolean
  /** The account that the operator has pinned: all sessions act on it. */
  readonly account: string | undefined
  readonly confirm: ConfirmMode
  /** What the servers that share a state remember for a while. */
  readonly records: Records
  readonly changes: Changes
  readonly sealingKeys: SealingKeys
  /** Records requests; `undefined`: nothing is recorded. */
  readonly observer?: Observer | undefined
  /** Records who changed what; `undefined`: nothing is recorded. */
  readonly audit?: Audit | undefined
  /** Fires when the only client is gone, or the server has to stop. */
  readonly shutdown?: AbortSignal | undefined
}

/** The MCP server on its two paths, for every transport and both eras of the protocol. */
export interface McpService {
  /** Makes the SDK's server for a stdio connection or an HTTP request. */
  readonly factory: McpServerFactory
  /** Answers the most frequent HTTP requests without the SDK. */
  readonly httpFastPath: HttpFastPath
  readonly waitsIn: CountWaits
  /** `undefined` where nothing is recorded. */
  readonly observeStream?: ObserveStream | undefined
  readonly missingScopes: MissingScopes
  /** Given to the transport, which would otherwise bring one more file into the start over stdio. */
  readonly newSession: NewSession
  /** Calls a tool from this process, with the server's own key. */
  readonly callLocally: CallLocally
}

export function createMcpService(options: McpServiceOptions): McpService {
  const { isSandbox, version, confirm, records, changes, sealingKeys, shutdown, onBug } = options
  const { observer, audit } = options
  const confirmations = createConfirmations(confirm, {
    usedTokens: createUsedTokens(records),
    sealingKeys,
  })
  const cancellations = createCancellations(changes)
  const runTool = createToolCalls({ cancellations, shutdown, onBug, observer })
  const shared = {
    ...options,
    info: serverInfoOf(isSandbox, version),
    catalogueOf: createToolCatalogues({
      ...options,
      requestState: { verify: confirmations.verifyState },
    }),
    runTool: audit ? auditedCalls(runTool, audit) : runTool,
    observing: createRequestObserving(observer),
  }
  const cancelledTasks = createCancelledTasks({ records, changes }, taskTtlMs)
  const onUnknownTool = unknownToolRecorder(options)
  return {
    factory: createServerFactory({
      ...shared,
      ...{ confirmations, cancellations, cancelledTasks },
      onUnknownTool,
    }),
    httpFastPath: createHttpFastPath(shared),
    waitsIn: createWaitCount(shared),
    observeStream: createStreamObserving(shared.observing, options.sessionFor),
    missingScopes: createMissingScopes(options.exposureFor),
    newSession,
    callLocally: createLocalCalls({
      ...{ runTool: shared.runTool, confirmations, onUnknownTool },
      exposureFor: options.exposureFor,
      session: () => options.sessionFor(undefined),
      client: { name: terminalClient, version },
    }),
  }
}

/** Records calls of tools that are not there, or not exposed. */
const unknownToolRecorder =
  ({ observer, audit }: McpServiceOptions): OnUnknownTool =>
  ({ tool, session, arguments: args, sender }) => {
    // The name is a text of the client, so it is not recorded.
    observer?.toolCallEnded({ tool: 'unknown', operation: '' }, 'protocol_error')
    if (tool && tool.effect !== 'reads')
      audit?.refused(auditedCall(tool, args, { session, sender }), {
        word: 'not_exposed',
        targets: [],
      })
  }
