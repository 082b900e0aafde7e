import { createHash } from 'node:crypto'
import type { Server } from '@modelcontextprotocol/server'
import { LRUCache } from 'lru-cache'
import packageJson from '../../package.json' with { type: 'json' }
import { tools } from '../../tools/index.ts'
import { createClient } from '../api/client.ts'
import { keyFree, type Redact, redactor } from '../api/key-free.ts'
import type { CallingConfig, PlatformConfig, ScopeConfig } from '../config/config.ts'
import { exposedOf } from '../config/exposed-tools.ts'
import { callTaskView } from '../flows/calls/wait-for-call.ts'
import { createMcpService } from '../mcp/mcp-service.ts'
import { createRequestExposure } from '../mcp/protocol/request-exposure.ts'
import { prompts } from '../prompts/index.ts'
import { ownAccountId } from '../session/account.ts'
import type { Credential } from '../session/credential.ts'
import { faultOfKey } from '../session/key-fault.ts'
import { ownAccountClient } from '../session/own-account-client.ts'
import { createReplyCaches, type ReplyCache } from '../session/reply-cache.ts'
import { restrictedSession } from '../session/restricted-session.ts'
import type { Session } from '../session/session.ts'
import { createMemoryUsedTokens } from '../state/memory/memory-used-tokens.ts'
import { openCallServices } from './call-services.ts'
import { openLocalToken } from './local-token.ts'
import { openPlatform } from './platform.ts'

const { version } = packageJson
const userAgent = `voice-agent-mcp/${version}`

/** How assistants are served, the same on every transport. */
export interface Serving {
  readonly platform: PlatformConfig
  readonly scope: ScopeConfig
  readonly calling: CallingConfig
}

export interface Watchers {
  /** Told of bugs of our own. */
  readonly onBug: (error: unknown) => void
  /** Fires when the only client there is has gone. */
  readonly shutdown?: AbortSignal
  /** Told of each server that is made, for what a transport has to send through it. */
  readonly onServer?: (server: Server) => void
}

/** Keys whose sessions are kept: making one costs more than most requests. */
const mostSessions = 1000

/**
 * Puts together what answers assistants from what the operator has configured. Throws ConfigError.
 */
export async function openServing(config: Serving, { onBug, shutdown, onServer }: Watchers) {
  const { account } = config.scope
  const isSandbox = config.platform.kind === 'sandbox'
  const exposure = exposedOf(tools, config.scope.exposure)
  const callServices = openCallServices(config.calling, { isSandbox })
  const platform = await openPlatform(config.platform, onBug)
  const limits = limitsOf(config.platform)
  const cacheOf = createReplyCaches(config.scope)
  const sessionOf = ({ apiKey, source, clientNetwork }: Credential): Session => {
    // The key of a sandbox opens nothing else, and is printed by it.
    const redact: Redact = isSandbox ? (text) => text : redactor(apiKey)
    const send = isSandbox ? platform.send : keyFree(platform.send, redact)
    const sender = createClient({ send, apiKey, clientNetwork, userAgent, ...limits })
    const client = ownAccountClient(sender, () => ownAccountId(cache))
    const cache: ReplyCache = cacheOf(apiKey, client)
    return {
      client,
      cache,
      callServices,
      platform: platform.address,
      owner: createHash('sha256').update(apiKey).digest('base64url'),
      pinnedAccount: account,
      isSandbox,
      keySource: source,
      redact,
    }
  }
  // By the whole key and where it came from: a session is one user's, from one network.
  const sessions = new LRUCache<string, Session>({ max: mostSessions })
  const sessionFor = (own: Credential | undefined): Session => {
    const credential = own ?? platform.credential
    // The transports let nothing through that has neither.
    if (!credential) throw new Error('A request without a key got past the transport')
    const name = JSON.stringify([credential.apiKey, credential.source, credential.clientNetwork])
    const known = sessions.get(name)
    if (known) return known
    const session = sessionOf(credential)
    sessions.set(name, session)
    return session
  }
  const exposureFor = createRequestExposure(exposure)
  const service = createMcpService({
    exposureFor,
    prompts,
    version,
    isSandbox,
    account,
    sessionFor,
    callTaskView,
    confirm: config.calling.confirm,
    usedTokens: createMemoryUsedTokens(),
    onBug,
    shutdown,
    ...(onServer && { onServer }),
  })
  return {
    ...service,
    exposureFor,
    /** Why a request with this key may hold nothing, such as a stream. */
    faultOfKey: (own: Credential | undefined) => faultOfKey(sessionFor(own)),
    /** For what is read for a client beside its requests. */
    readingFor: (own: Credential | undefined) => restrictedSession(sessionFor(own), exposure.tools),
    /** Whether requests from this machine need no key of their own. */
    hasKey: platform.credential !== undefined,
    /** What such requests bring, from the state directory. Throws ConfigError. */
    localToken: () => openLocalToken(config.calling.stateDir),
    /** Does now what the first request would do, and fails if that fails. */
    prepare: platform.prepare,
    async close() {
      await callServices.close()
      await platform.close()
    },
  }
}

const limitsOf = (config: PlatformConfig) =>
  config.kind === 'sandbox' ? {} : { totalTimeoutMs: config.totalTimeoutMs }
