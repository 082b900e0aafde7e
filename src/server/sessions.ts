import { LRUCache } from 'lru-cache'
import packageJson from '../../package.json' with { type: 'json' }
import type { CallServices } from '../calls/placement.ts'
import type { ServiceConfig } from '../cli/config/service-settings.ts'
import { createClient } from '../platform/client.ts'
import { ApiError, failureText, isRejectedWith } from '../platform/failure.ts'
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
import type { KeyProblem } from './transports/http-mcp.ts'

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

/**
 * Time for which a refused API key is not checked again, ms. Long enough that a client's retries
 * cause no requests to the platform, short enough that a reactivated key soon works.
 */
const refusedMs = 10_000

/** Maximum number of stored refusals. With their reasons they take about 2 MB. */
const maxRefused = 1000

type KeyCheck = (
  session: Pick<Session, 'cache' | 'keyHash' | 'keySource' | 'redact'>,
) => Promise<KeyProblem | undefined>

/**
 * Creates a check of API keys, which returns a problem if the platform refuses the key or cannot be
 * asked. It asks once about an accepted key, and at most once per `refusedMs` about a refused key.
 */
export function createKeyCheck(): KeyCheck {
  // By hash of the API key. `until` is a time of `performance.now`.
  const refused = new LRUCache<string, { readonly reason: string; readonly until: number }>({
    max: maxRefused,
  })
  return async (session) => {
    const { keyHash, keySource, redact } = session
    const known = refused.get(keyHash)
    if (known && known.until > performance.now()) return refusal(keySource, known.reason)
    try {
      await ownAccountId(session)
      return undefined
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      const reason = redact.start(failureText(error.failure), 1000)
      if (!isRejectedWith(error, 401, 403)) {
        const message = `The platform could not be asked about the API key (${reason}).`
        return { status: 503, message }
      }
      refused.set(keyHash, { reason, until: performance.now() + refusedMs })
      return refusal(keySource, reason)
    }
  }
}

const refusal = (keySource: string, reason: string): KeyProblem => ({
  status: 401,
  message: `The platform refuses the API key from ${keySource} (${reason}).`,
})
