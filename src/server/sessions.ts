import { LRUCache } from 'lru-cache'
import packageJson from '../../package.json' with { type: 'json' }
import type { CallServices } from '../calls/placement.ts'
import type { ServiceConfig } from '../cli/config/service-settings.ts'
import { createClient } from '../platform/client.ts'
import { noRedaction, redactor, withRedactedReplies } from '../platform/key-redaction.ts'
import { driftReporter } from '../platform/reply-drift.ts'
import { accountUnlessAborted, ownAccountId } from '../platform/sessions/account.ts'
import type { Credential } from '../platform/sessions/credential.ts'
import { createReplyCaches, type ReplyCache } from '../platform/sessions/reply-cache.ts'
import { keyHashOf, type Session } from '../platform/sessions/session.ts'
import { createReplyChanges } from '../platform/sessions/watched-replies.ts'
import type { Broadcast } from '../state/broadcast.ts'
import type { UndoLog } from '../state/undo-log.ts'
import type { Audit } from './audit/audit.ts'
import type { Observer } from './observe/observer.ts'
import type { Platform } from './platform.ts'

/** Maximum cached sessions, each with its cached replies. */
const maxSessions = 1000

const userAgent = `voice-agent-mcp/${packageJson.version}`

interface SessionParts {
  readonly platform: Platform
  readonly callServices: CallServices
  readonly undoLog: UndoLog | undefined
  readonly config: ServiceConfig
  readonly broadcast: Broadcast
  readonly observer: Observer | undefined
  readonly audit: Audit | undefined
  readonly onReplyDrift: ((message: string) => void) | undefined
}

/**
 * Returns the session of a request's own API key, otherwise of the server's key. A session is
 * cached only after the platform has accepted its key, because clients can invent any number of
 * keys.
 */
export function createSessions(parts: SessionParts): (own: Credential | undefined) => Session {
  const { platform, callServices, undoLog, broadcast, observer, audit, onReplyDrift } = parts
  const { platform: platformConfig, scope } = parts.config
  const isSandbox = platformConfig.kind === 'sandbox'
  const replyChanges = createReplyChanges(broadcast, platform.address)
  const cacheOf = createReplyCaches({
    catalogMs: scope.catalogMs,
    watched: scope.watched,
    changes: replyChanges,
    onRead: observer?.cacheRead,
  })
  const onDrift = onReplyDrift && driftReporter(onReplyDrift)
  const createSession = (
    { apiKey, source, clientNetwork, oauthClient }: Credential,
    onAccepted: (() => void) | undefined,
  ): Session => {
    const keyHash = keyHashOf(apiKey)
    // The sandbox's API key is not secret: it opens only the sandbox.
    const redact = isSandbox ? noRedaction : redactor(apiKey)
    const client = createClient({
      send: isSandbox ? platform.send : withRedactedReplies(platform.send, redact),
      apiKey,
      userAgent,
      clientNetwork,
      ownAccountId: (signal) => accountUnlessAborted(ownAccountId({ cache }), signal),
      audit,
      observer,
      platform: platform.address,
      onAccepted,
      onWrite: replyChanges.wrote,
      onDrift,
      totalTimeoutMs: isSandbox ? undefined : platformConfig.totalTimeoutMs,
    })
    const cache: ReplyCache = cacheOf(keyHash, client)
    return {
      ...{ client, cache, callServices, undoLog, keyHash, isSandbox, clientNetwork, oauthClient },
      platform: platform.address,
      pinnedAccount: scope.account,
      keySource: source,
      redact,
    }
  }
  // Keyed by all parts of the credential that a session depends on.
  const sessions = new LRUCache<string, Session>({ max: maxSessions })
  return (own) => {
    const credential = own ?? platform.credential
    // Cannot happen: transports refuse requests without a usable credential.
    if (!credential) throw new Error('A request without a key got past the transport')
    const { apiKey, source, clientNetwork, oauthClient } = credential
    const name = JSON.stringify([apiKey, source, clientNetwork, oauthClient])
    const known = sessions.get(name)
    if (known) return known
    const keep = () => {
      if (!sessions.has(name)) sessions.set(name, session)
    }
    const session = createSession(credential, own && keep)
    if (!own) keep()
    return session
  }
}
