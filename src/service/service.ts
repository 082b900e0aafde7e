import type { Server } from '@modelcontextprotocol/server'
import packageJson from '../../package.json' with { type: 'json' }
import { tools } from '../../tools/index.ts'
import { exposedTools } from '../config/exposed-tools.ts'
import type { OauthConfig } from '../config/oauth.ts'
import type { ServiceConfig } from '../config/service.ts'
import { callTaskView } from '../flows/calls/wait-for-call.ts'
import { createMcpService } from '../mcp/mcp-service.ts'
import { createRequestExposure } from '../mcp/protocol/request-exposure.ts'
import { scopesOf } from '../mcp/protocol/scoped-exposure.ts'
import type { FetchDocument } from '../oauth/client-documents.ts'
import type { Observer } from '../observe/observer.ts'
import { prompts } from '../prompts/index.ts'
import type { Credential } from '../session/credential.ts'
import { faultOfKey } from '../session/key-fault.ts'
import { restrictedSession } from '../session/restricted-session.ts'
import { auditedJournal, openAudit } from './audit.ts'
import { createCallServices } from './call-services.ts'
import { inspection } from './inspection.ts'
import { openLocalToken } from './local-token.ts'
import { openOauth } from './oauth.ts'
import { observedDialPolicy } from './observed-dial-policy.ts'
import { openPlatform } from './platform.ts'
import { createReadiness } from './readiness.ts'
import { openSealingKeys } from './sealing-keys.ts'
import { createSessions } from './sessions.ts'
import { openState, prepareState } from './state.ts'

/** For commands that only look: the state alone, and what a check of everything needs. */
export { inspection, openState }

/** What the transport that uses the service gives it. */
export interface ServiceEvents {
  /** Called with every error that is a bug of this program. */
  readonly onBug: (error: unknown) => void
  /** Fires when the only client has gone, or the server is to stop. */
  readonly shutdown?: AbortSignal
  /** Records what happens; `undefined`: nothing is recorded. */
  readonly observer?: Observer | undefined
  /** Whether a request was answered, and recorded, before the SDK received it. */
  readonly isAnswered?: (id: unknown) => boolean
  /** Called with what an operator has to know of the audit trail. */
  readonly onAuditTrouble?: (message: string) => void
  /** Called with each MCP server that is created: a transport sends notifications through it. */
  readonly onServer?: (server: Server) => void
  /** The origin of the pages of the sandbox's web calls; without it nobody can join them. */
  readonly webCallPagesAt?: () => string | undefined | Promise<string | undefined>
}

/** The whole program behind a transport: platform, state, tools and prompts. */
export type Service = Awaited<ReturnType<typeof openService>>

/** Puts the service together from its configuration. Throws ConfigError. */
export async function openService(config: ServiceConfig, events: ServiceEvents) {
  const { platform: platformConfig, scope, calling } = config
  const isSandbox = platformConfig.kind === 'sandbox'
  const exposure = exposedTools(tools, scope.exposure)
  const { sealingKeys, state, audit, platform, sessionFor } = await openParts(config, events)
  const exposureFor = createRequestExposure(exposure)
  const mcp = createMcpService({
    exposureFor,
    prompts,
    version: packageJson.version,
    isSandbox,
    account: scope.account,
    sessionFor,
    callTaskView,
    confirm: calling.confirm,
    records: state.records,
    changes: state.changes,
    sealingKeys,
    audit,
    ...events,
  })
  return {
    ...mcp,
    exposureFor,
    /** Why a request with this key may not keep anything open, such as a stream. */
    faultOfKey: (own: Credential | undefined) => faultOfKey(sessionFor(own)),
    /** For what is read for a client besides its requests. */
    restrictedSessionFor: (own: Credential | undefined) =>
      restrictedSession(sessionFor(own), exposure.tools),
    /** The authorization server beside this one. Throws ConfigError. */
    openOauth: (oauth: OauthConfig, fetchDocument?: FetchDocument) =>
      openOauth(oauth, {
        ...{ platform, isSandbox, sessionFor, state, sealingKeys, fetchDocument },
        scopes: scopesOf(exposure.tools),
        onError: events.onBug,
      }),
    /** Shows the page of a web call of the sandbox. */
    showWebCall: platform.showWebCall,
    /** Whether there is a key for requests that bring none. */
    hasOwnKey: platform.credential !== undefined,
    /** The secret that such requests must bring, from the state directory. Throws ConfigError. */
    localToken: () => openLocalToken(config.state.dir),
    /** Whether requests can be served now: for probes of an HTTP server. */
    readiness: createReadiness({ send: platform.send, state }),
    /**
     * Does now what the first request would do, and fails if that fails. Gives a warning where what is
     * missing may come by itself.
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

/** What the sessions of a service work with, and what keeps their secrets and their state. */
async function openParts(
  config: ServiceConfig,
  { onBug, observer, onAuditTrouble = onBug, webCallPagesAt }: ServiceEvents,
) {
  const sealingKeys = openSealingKeys(config.state)
  const isSandbox = config.platform.kind === 'sandbox'
  const state = await openState(config.state, { isSandbox })
  const audit = openAudit(config.audit, state, onAuditTrouble)
  const services = createCallServices(config.calling, state)
  const policy = observedDialPolicy(services.policy, observer)
  const journal = auditedJournal(services.journal, audit)
  const platform = await openPlatform(config.platform, onBug, webCallPagesAt)
  const sessionFor = createSessions({
    platform,
    callServices: { ...services, policy, journal },
    config,
    changes: state.changes,
    observer,
    audit,
  })
  return { sealingKeys, state, audit, platform, sessionFor }
}
