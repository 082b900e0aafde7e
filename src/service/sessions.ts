import { LRUCache } from 'lru-cache'
import packageJson from '../../package.json' with { type: 'json' }
import { type BeginningTry, createClient } from '../api/client.ts'
import { keyFree, type Redact, redactor } from '../api/key-free.ts'
import type { Audit } from '../audit/audit.ts'
import type { CallServices } from '../calls/call-services.ts'
import type { ServiceConfig } from '../config/service.ts'
import type { Observer } from '../observe/observer.ts'
import { ownAccountId } from '../session/account.ts'
import type { Credential } from '../session/credential.ts'
import { ownAccountClient } from '../session/own-account-client.ts'
import { ownerOf } from '../session/owner.ts'
import { createReplyCaches, type ReplyCache } from '../session/reply-cache.ts'
import { announcingClient, createReplyChanges } from '../session/reply-changes.ts'
import type { Session } from '../session/session.ts'
import type { Changes } from '../state/changes.ts'
import type { Platform } from './platform.ts'

/** Keys whose sessions are kept, because making one costs more than most requests. */
const mostSessions = 1000

const userAgent = `voice-agent-mcp/${packageJson.version}`

interface SessionParts {
  readonly platform: Platform
  readonly callServices: CallServices
  readonly config: ServiceConfig
  readonly changes: Changes
  readonly observer: Observer | undefined
  readonly audit: Audit | undefined
}

/** The session of a request: of its own key, or else of the server's key. */
export function createSessions(parts: SessionParts): (own: Credential | undefined) => Session {
  const createSession = sessionFactory(parts)
  // By all that a session has of its credential.
  const sessions = new LRUCache<string, Session>({ max: mostSessions })
  return (own) => {
    const credential = own ?? parts.platform.credential
    // The transports refuse requests that have neither.
    if (!credential) throw new Error('A request without a key got past the transport')
    const { apiKey, source, clientNetwork, oauthClient } = credential
    const name = JSON.stringify([apiKey, source, clientNetwork, oauthClient])
    const known = sessions.get(name)
    if (known) return known
    const session = createSession(credential)
    sessions.set(name, session)
    return session
  }
}

function sessionFactory({
  platform,
  callServices,
  config,
  changes,
  observer,
  audit,
}: SessionParts) {
  const replyChanges = createReplyChanges(changes, platform.address)
  const cacheOf = createReplyCaches({
    ...config.scope,
    changes: replyChanges,
    onRead: observer?.cacheRead,
  })
  const onTry = bothOf(observer?.platformTried, audit?.tried)
  const isSandbox = config.platform.kind === 'sandbox'
  const begin = observer?.beginTry
  const beginTry =
    begin && ((beginning: BeginningTry) => begin({ ...beginning, platform: platform.address }))
  const limits =
    config.platform.kind === 'sandbox' ? {} : { totalTimeoutMs: config.platform.totalTimeoutMs }
  return ({ apiKey, source, clientNetwork, oauthClient }: Credential): Session => {
    // The sandbox prints its key, which opens nothing else.
    const redact: Redact = isSandbox ? (text) => text : redactor(apiKey)
    const send = isSandbox ? platform.send : keyFree(platform.send, redact)
    const sender = createClient({
      send,
      apiKey,
      clientNetwork,
      userAgent,
      beginTry,
      onTry,
      ...limits,
    })
    const announcing = announcingClient(audit?.client(sender) ?? sender, replyChanges)
    const client = ownAccountClient(announcing, () => ownAccountId(cache))
    const cache: ReplyCache = cacheOf(apiKey, client)
    return {
      client,
      cache,
      callServices,
      platform: platform.address,
      owner: ownerOf(apiKey),
      pinnedAccount: config.scope.account,
      isSandbox,
      clientNetwork,
      oauthClient,
      keySource: source,
      redact,
    }
  }
}

/** Calls both, or the one that there is. */
function bothOf<T>(
  one: ((value: T) => void) | undefined,
  other: ((value: T) => void) | undefined,
): ((value: T) => void) | undefined {
  if (!one || !other) return one ?? other
  return (value) => {
    one(value)
    other(value)
  }
}
