import packageJson from '../../package.json' with { type: 'json' }
import { callTaskView } from '../../tools/calls/follow-calls.ts'
import { tools } from '../../tools/index.ts'
import type { OauthConfig } from '../cli/config/http.ts'
import { exposedTools, type ServiceConfig } from '../cli/config/service-settings.ts'
import { createCancellations } from '../mcp/cancellations.ts'
import type { Exposure } from '../mcp/exposure.ts'
import { createHttpFastPath } from '../mcp/http-fast-path.ts'
import { createLocalCalls } from '../mcp/local-tool-calls.ts'
import { createStreamObserving } from '../mcp/observed-request.ts'
import { createRequestExposure, scopesOf } from '../mcp/request-exposure.ts'
import { createServerFactory, type ServerFactoryOptions } from '../mcp/server.ts'
import { serverInfoOf } from '../mcp/server-info.ts'
import { watchResources } from '../mcp/subscriptions.ts'
import { createToolCalls } from '../mcp/tool-calls.ts'
import { createToolCatalogues } from '../mcp/tools.ts'
import type { FetchDocument } from '../oauth/client-metadata.ts'
import type { Credential } from '../platform/sessions/credential.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import { prompts } from '../prompts/index.ts'
import { skills } from '../prompts/skills.ts'
import type { SealingKeys } from '../state/sealing.ts'
import type { State } from '../state/state.ts'
import type { StateError } from '../state/state-access.ts'
import type { ConfirmMode } from '../tool/confirm-mode.ts'
import { createConfirmations } from '../tool/confirmation.ts'
import { createUsedTokens } from '../tool/single-use-tokens.ts'
import { createCancelledTasks } from '../tool/task.ts'
import { type Audit, openAudit } from './audit/audit.ts'
import { createCallServices } from './call-services.ts'
import { openOauth } from './oauth.ts'
import type { Observer } from './observe/observer.ts'
import { openPlatform } from './platform.ts'
import { createReadiness } from './readiness.ts'
import { openLocalToken, openSealingKeys } from './secrets.ts'
import { createKeyCheck, createSessions } from './sessions.ts'
import { openState, openUndoLog, prepareState } from './state.ts'

const { version } = packageJson

/** Client name in the audit trail for tool calls from the command line. */
const terminalClient = 'voice-agent-mcp call'

/** Options and callbacks of a transport. */
interface ServiceEvents {
  /** Called with every unexpected error, which is a bug of this program. */
  readonly onBug: (error: unknown) => void
  /** Fires when the stdio client has disconnected, or the server is stopping. */
  readonly shutdown?: AbortSignal
  /** Log, metrics and traces; `undefined`: none. */
  readonly observer?: Observer | undefined
  /**
   * True if the stdio handshake has answered and recorded the request, before the MCP SDK received
   * it.
   */
  readonly isAnswered?: (id: unknown) => boolean
  /** Called with messages for the operator about the audit trail. */
  readonly onAuditTrouble?: (message: string) => void
  /** Called with every state failure of a request. */
  readonly onStateTrouble?: (message: string) => void
  /** Called when a platform reply differs from the documented API; once per difference. */
  readonly onReplyDrift?: (message: string) => void
  /** Origin of the sandbox's web call pages. Without it, nobody can join web calls. */
  readonly webCallPagesAt?: () => string | undefined | Promise<string | undefined>
}

/** The program without its transport: platform, state, tools and prompts. */
export type Service = Awaited<ReturnType<typeof openService>>

/** Composes the service from its configuration. Throws ConfigError. */
export async function openService(config: ServiceConfig, events: ServiceEvents) {
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
  const mcp = createMcpService({
    exposure,
    isSandbox,
    account: scope.account,
    sessionFor,
    confirm: calling.confirm,
    records: state.records,
    broadcast: state.broadcast,
    sealingKeys,
    audit,
    ...events,
  })
  const checkKey = createKeyCheck()
  return {
    ...mcp,
    /** Why a request with this API key may not open a stream; `undefined` if it may. */
    checkKey: (own: Credential | undefined) => checkKey(sessionFor(own)),
    /**
     * Watches resources that exposed tools can read, until the returned function is called. Throws
     * WatchLimitError.
     */
    watch: (
      own: Credential | undefined,
      uris: readonly string[],
      onUpdate: (uri: string) => void,
    ) => watchResources(restrictedSession(sessionFor(own), exposure.tools), uris, onUpdate),
    /** Opens the authorization server beside the MCP server. Throws ConfigError. */
    openOauth: (oauth: OauthConfig, fetchDocument?: FetchDocument) =>
      openOauth(oauth, {
        ...{ platform, isSandbox, sessionFor, state, sealingKeys, fetchDocument },
        scopes: scopesOf(exposure.tools),
        onError: onBug,
      }),
    showWebCall: platform.showWebCall,
    hasOwnKey: platform.credential !== undefined,
    /**
     * Reads the secret for requests without an API key, from the state directory. Throws
     * ConfigError.
     */
    localToken: () => openLocalToken(config.state.dir),
    /** Readiness check for the probes of an HTTP server. */
    readiness: createReadiness(platform, state),
    /**
     * Opens platform and state before the first request. Rejects on a permanent failure. Returns a
     * warning for a failure that may recover by itself.
     */
    async prepare(): Promise<string | undefined> {
      await platform.prepare()
      return prepareState(state, config.state)
    },
    async close() {
      await audit?.close()
      await state.close()
      await platform.close()
    },
  }
}

/** The MCP server, for all transports and all protocol revisions. */
export type McpService = ReturnType<typeof createMcpService>

interface McpServiceOptions extends ServiceEvents, Pick<State, 'records' | 'broadcast'> {
  /** Tools that the operator exposes. */
  readonly exposure: Exposure
  readonly isSandbox: boolean
  /** Account that the operator has pinned for all sessions. */
  readonly account: string | undefined
  readonly sessionFor: ServerFactoryOptions['sessionFor']
  readonly confirm: ConfirmMode
  readonly sealingKeys: SealingKeys
  /** The audit trail of changes; `undefined`: nothing is recorded. */
  readonly audit?: Audit | undefined
}

export function createMcpService(options: McpServiceOptions) {
  const { exposure, isSandbox, confirm, records, broadcast, sealingKeys } = options
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
  const exposureFor = createRequestExposure(exposure)
  const shared = {
    ...options,
    exposureFor,
    info: serverInfoOf(isSandbox, version),
    prompts,
    skills,
    callTaskView,
    catalogueOf: createToolCatalogues({
      ...options,
      requestState: { verify: confirmations.verifyRequestState },
    }),
    toolCalls,
  }
  const cancelledTasks = createCancelledTasks({ records, broadcast })
  return {
    factory: createServerFactory({
      ...shared,
      confirmations,
      cancellations,
      cancelledTasks,
    }),
    httpFastPath: createHttpFastPath(shared),
    exposureFor,
    observeStream: createStreamObserving(observer, options.sessionFor),
    /** Calls a tool from the command line, with the server's own API key. */
    callLocally: createLocalCalls({
      toolCalls,
      confirmations,
      exposure,
      session: () => options.sessionFor(undefined),
      client: { name: terminalClient, version },
    }),
  }
}
