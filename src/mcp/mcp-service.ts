import type { McpServerFactory } from '@modelcontextprotocol/server'
import type { Audit } from '../server/audit/audit.ts'
import type { Observer } from '../server/observe/observer.ts'
import type { Changes } from '../state/changes.ts'
import type { Records } from '../state/records.ts'
import { createCancelledTasks, createUsedTokens } from '../state/records.ts'
import type { SealingKeys } from '../state/sealing.ts'
import type { StateError } from '../state/state-access.ts'
import type { ConfirmMode } from '../tool/confirm-mode.ts'
import { createConfirmations } from '../tool/confirmation.ts'
import { taskTtlMs } from '../tool/task.ts'
import { createCancellations } from './cancellations.ts'
import type { Exposure } from './exposure.ts'
import { createHttpFastPath, type HttpFastPath } from './http-fast-path.ts'
import { type CallLocally, createLocalCalls } from './local-calls.ts'
import {
  createRequestObserving,
  createStreamObserving,
  type ObserveStream,
} from './observed-request.ts'
import { createRequestExposure, type ExposureOfRequest } from './request-exposure.ts'
import { createServerFactory, type ServerFactoryOptions } from './server.ts'
import { serverInfoOf } from './server-info.ts'
import { auditedCall, auditedCalls, createToolCalls } from './tool-calls.ts'
import type { OnUnknownTool } from './tools.ts'
import { createToolCatalogues } from './tools.ts'

/** What the audit trail names as the client where the command line calls a tool. */
const terminalClient = 'voice-agent-mcp call'

export interface McpServiceOptions
  extends Pick<
    ServerFactoryOptions,
    'sessionFor' | 'prompts' | 'callTaskView' | 'onBug' | 'onServer' | 'isAnswered'
  > {
  readonly version: string
  /** What the operator exposes. */
  readonly exposure: Exposure
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
  /** Called with what an operator has to know of the state. */
  readonly onStateTrouble?: ((message: string) => void) | undefined
  /** Fires when the only client is gone, or the server has to stop. */
  readonly shutdown?: AbortSignal | undefined
}

/** The MCP server on its two paths, for every transport and both eras of the protocol. */
export interface McpService {
  /** Makes the SDK's server for a stdio connection or an HTTP request. */
  readonly factory: McpServerFactory
  /** Answers the most frequent HTTP requests without the SDK. */
  readonly httpFastPath: HttpFastPath
  readonly exposureFor: ExposureOfRequest
  readonly observeStream: ObserveStream
  /** Calls a tool from this process, with the server's own key. */
  readonly callLocally: CallLocally
}

export function createMcpService(options: McpServiceOptions): McpService {
  const { exposure, isSandbox, version, confirm, records, changes, sealingKeys, shutdown, onBug } =
    options
  const { observer, audit, onStateTrouble = onBug } = options
  const confirmations = createConfirmations(confirm, {
    usedTokens: createUsedTokens(records),
    sealingKeys,
  })
  const cancellations = createCancellations(changes)
  const onStateFailure = ({ message, isTemporary }: StateError) => {
    observer?.stateFailed(isTemporary ? 'away' : 'broken')
    onStateTrouble(message)
  }
  const runTool = createToolCalls({ cancellations, shutdown, onBug, onStateFailure, observer })
  const exposureFor = createRequestExposure(exposure)
  const shared = {
    ...options,
    exposureFor,
    info: serverInfoOf(isSandbox, version),
    catalogueOf: createToolCatalogues({
      ...options,
      requestState: { verify: confirmations.verifyRequestState },
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
    exposureFor,
    observeStream: createStreamObserving(shared.observing, options.sessionFor),
    callLocally: createLocalCalls({
      ...{ runTool: shared.runTool, confirmations, onUnknownTool },
      exposure,
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
