import packageJson from '../../package.json' with { type: 'json' }
import { callTaskView } from '../../tools/calls/follow-calls.ts'
import type { OauthConfig } from '../cli/config/http.ts'
import type { ServiceConfig } from '../cli/config/service-settings.ts'
import { routes } from '../contract/routes.ts'
import type { Exposure } from '../mcp/exposure.ts'
import { createHttpFastPath } from '../mcp/http-fast-path.ts'
import { scopesOf } from '../mcp/oauth-scopes.ts'
import { createStreamObserving } from '../mcp/observed-request.ts'
import { createRequestExposure } from '../mcp/request-exposure.ts'
import { createServerFactory, type ServerFactoryOptions } from '../mcp/server.ts'
import { serverInfoOf } from '../mcp/server-info.ts'
import { watchResources } from '../mcp/subscriptions.ts'
import { createToolCatalogues } from '../mcp/tools.ts'
import type { FetchDocument } from '../oauth/client-metadata.ts'
import type { Credential } from '../platform/sessions/credential.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import { resultOr } from '../platform/time-limit.ts'
import { prompts } from '../prompts/index.ts'
import { skills } from '../prompts/skills.ts'
import type { State } from '../state/state.ts'
import type { ConfirmMode } from '../tool/confirm-mode.ts'
import { createCancelledTasks } from '../tool/task.ts'
import { openOauth } from './oauth.ts'
import type { Observer } from './observe/observer.ts'
import type { Platform } from './platform.ts'
import { openLocalToken } from './secrets.ts'
import { createKeyCheck } from './sessions.ts'
import { prepareState } from './state.ts'
import { openToolService, type ToolCalling, type ToolServiceEvents } from './tool-service.ts'
import type { Reachability, Readiness } from './transports/http.ts'

/** Options and callbacks of a transport. */
interface ServiceEvents extends ToolServiceEvents {
  /**
   * True if the stdio handshake has answered and recorded the request, before the MCP SDK received
   * it.
   */
  readonly isAnswered?: (id: unknown) => boolean
}

/** The program without its transport: platform, state, tools and prompts. */
export type Service = Awaited<ReturnType<typeof openService>>

/** Composes the service from its configuration. Throws ConfigError. */
export async function openService(config: ServiceConfig, events: ServiceEvents) {
  const toolService = await openToolService(config, events)
  const { exposure, isSandbox, sealingKeys, state, platform, sessionFor } = toolService
  const { confirmations, cancellations, toolCalls } = toolService
  const { records, broadcast } = state
  const { onBug, observer, isAnswered } = events
  const mcp = createMcpService({
    ...{ exposure, isSandbox, sessionFor, records, broadcast },
    ...{ confirmations, cancellations, toolCalls, onBug, observer, isAnswered },
    account: config.scope.account,
    confirm: config.calling.confirm,
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
    close: toolService.close,
  }
}

/** The MCP server, for all transports and all protocol revisions. */
export type McpService = ReturnType<typeof createMcpService>

interface McpServiceOptions extends ToolCalling, Pick<State, 'records' | 'broadcast'> {
  /** Tools that the operator exposes. */
  readonly exposure: Exposure
  readonly isSandbox: boolean
  /** Account that the operator has pinned for all sessions. */
  readonly account: string | undefined
  readonly sessionFor: ServerFactoryOptions['sessionFor']
  readonly confirm: ConfirmMode
  readonly onBug: (error: unknown) => void
  readonly observer?: Observer | undefined
  readonly isAnswered?: ServerFactoryOptions['isAnswered']
}

export function createMcpService(options: McpServiceOptions) {
  const { exposure, isSandbox, confirmations, records, broadcast } = options
  const exposureFor = createRequestExposure(exposure)
  const shared = {
    ...options,
    exposureFor,
    info: serverInfoOf(isSandbox, packageJson.version),
    prompts,
    skills,
    callTaskView,
    catalogueOf: createToolCatalogues({
      ...options,
      requestState: { verify: confirmations.verifyRequestState },
    }),
  }
  const cancelledTasks = createCancelledTasks({ records, broadcast })
  return {
    factory: createServerFactory({ ...shared, cancelledTasks }),
    httpFastPath: createHttpFastPath(shared),
    exposureFor,
    observeStream: createStreamObserving(options.observer, options.sessionFor),
  }
}

/**
 * Time for which a readiness result is reused, ms, so that probes of several load balancers share
 * one platform request.
 */
const readinessReuseMs = 2000

/**
 * Timeout of the platform and the state in a probe, ms. Below the 1 s default timeout of probes.
 */
const probeTimeoutMs = 900

/**
 * Creates the readiness check. Every reply of the platform counts as reachable, including 401 and
 * 5xx: during an outage, this server's error messages help clients more than a load balancer
 * without servers.
 */
function createReadiness(platform: Platform, state: State): () => Promise<Readiness> {
  let found: Promise<Readiness> | undefined
  return () => {
    found ??= findReadiness(platform, state).finally(() => {
      setTimeout(() => {
        found = undefined
      }, readinessReuseMs).unref()
    })
    return found
  }
}

async function findReadiness(platform: Platform, state: State): Promise<Readiness> {
  const { method, path } = routes.accounts.current
  const [ofPlatform, ofState] = await Promise.all([
    reachable(platform.send({ method, target: path, headers: {}, timeLeftMs: probeTimeoutMs })),
    resultOr(reachable(state.check()), () => 'unreachable' as const, { ms: probeTimeoutMs }),
  ])
  return { platform: ofPlatform, state: ofState }
}

const reachable = (attempt: Promise<unknown>): Promise<Reachability> =>
  attempt.then(
    () => 'ok',
    () => 'unreachable',
  )
