import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { Client } from '../client.ts'
import { ApiError } from '../failure.ts'
import { accountIn, accountInUse, knownOwnAccountId, ownAccountId } from './account.ts'
import type { ReplyCache } from './reply-cache.ts'
import type { Session } from './session.ts'

declare const restricted: unique symbol

/**
 * A session for reads besides a tool's own request: for hints, names of agents, completions,
 * prompts and resources. It reads only objects that an exposed tool can read, and only from the
 * account that the tools act on. Any other read throws ApiError `not_exposed`. Only the function
 * `restrictedSession` creates this type, so a plain session cannot be passed by mistake.
 */
export type RestrictedSession = Session & {
  readonly [restricted]: true
  /** True if the tool with this name is exposed. */
  readonly exposes: (tool: string) => boolean
  /** True if an exposed tool reads this route. */
  readonly mayRead: (route: Route) => boolean
  /** Id of the API key's own account, only for comparisons. Throws ApiError. */
  readonly ownAccountId: () => Promise<string>
}

/** The parts of the exposed tools that decide which reads are allowed. */
type ExposedTools = readonly { readonly name: string; readonly route: Pick<Route, 'id'> }[]

/** Restricted sessions, one per session and set of exposed tools. */
const made = new WeakMap<Session, WeakMap<ExposedTools, RestrictedSession>>()

export function restrictedSession(session: Session, tools: ExposedTools): RestrictedSession {
  const ofSession = made.get(session) ?? new WeakMap<ExposedTools, RestrictedSession>()
  made.set(session, ofSession)
  const result = ofSession.get(tools) ?? createRestricted(session, tools)
  ofSession.set(tools, result)
  return result
}

function createRestricted(session: Session, tools: ExposedTools): RestrictedSession {
  const names = new Set(tools.map(({ name }) => name))
  const routeIds = new Set(tools.map(({ route }) => route.id))
  const mayRead = (route: Route) => route.effect === 'reads' && routeIds.has(route.id)
  const isAllowed: IsAllowed = (route, request) =>
    mayRead(route) && !isOtherAccount(route, request, session)
  const client = restrictedClient(session, isAllowed)
  const result: Omit<RestrictedSession, typeof restricted> = {
    ...session,
    client,
    cache: restrictedCache(session, { isAllowed, client }),
    exposes: (tool) => names.has(tool),
    mayRead,
    ownAccountId: () => ownAccountId(session),
  }
  return result as RestrictedSession
}

/** True if a read is allowed. */
type IsAllowed = (route: Route, request: RouteRequest) => boolean

const notExposed = (route: Route) =>
  new ApiError({ kind: 'not_exposed' }, { ...route, attempts: 0 })

function isOtherAccount(
  route: Route,
  { params }: RouteRequest,
  { pinnedAccount }: Session,
): boolean {
  if (pinnedAccount === undefined || !('account_id' in route.params.shape)) return false
  return accountIn({ params }) !== pinnedAccount
}

/** True if the route reads the API key's own account while the tools act on a pinned account. */
const readsPinned = (route: Route, { pinnedAccount }: Session) =>
  pinnedAccount !== undefined && pinnedAccount !== 'me' && route.id === routes.accounts.current.id

function restrictedClient(session: Session, isAllowed: IsAllowed): Client {
  return {
    async call(route, request, signal) {
      if (!isAllowed(route, request)) throw notExposed(route)
      if (!readsPinned(route, session)) return session.client.call(route, request, signal)
      // The route reads an account, so its reply is an account.
      return (await accountInUse(session, signal)) as ReplyOf<typeof route>
    },
  }
}

function restrictedCache(
  session: Session,
  { isAllowed, client }: { isAllowed: IsAllowed; client: Client },
): ReplyCache {
  const { cache } = session
  const readWith =
    (how: 'read' | 'refresh'): ReplyCache['read'] =>
    async (route, request, time) => {
      if (!isAllowed(route, request)) throw notExposed(route)
      return readsPinned(route, session)
        ? client.call(route, request)
        : cache[how](route, request, time)
    }
  return {
    read: readWith('read'),
    refresh: readWith('refresh'),
    cacheMs: cache.cacheMs,
    watch(...watched) {
      const [route, request, time, onChange] = watched
      if (!isAllowed(route, request)) return () => undefined
      if (!readsPinned(route, session)) return cache.watch(...watched)
      return watchPinned(session, (pinned) => {
        const read = pinned ?? { route, request }
        return cache.watch(read.route, read.request, time, onChange)
      })
    },
  }
}

/**
 * Watches the pinned account. Calls `watch` without a request if the pinned account is the API
 * key's own, and with a request if it is a subaccount. If the id of the API key's own account is
 * not known yet, reads it first. If that fails, or if a watch limit is then reached, the account
 * stays unwatched. Returns the unsubscribe function. Throws WatchLimitError.
 */
function watchPinned(
  session: Session,
  watch: (pinned: { route: Route; request: RouteRequest } | undefined) => () => void,
): () => void {
  const { pinnedAccount = 'me' } = session
  const request = { params: { account_id: 'me', subaccount_id: pinnedAccount }, query: {} }
  const begin = (ownId: string) =>
    watch(ownId === pinnedAccount ? undefined : { route: routes.accounts.getSubaccount, request })
  const knownId = knownOwnAccountId(session)
  if (knownId !== undefined) return begin(knownId)
  const ended = new AbortController()
  ownAccountId(session)
    .then((ownId) => {
      if (!ended.signal.aborted) ended.signal.addEventListener('abort', begin(ownId))
    })
    .catch(() => undefined)
  return () => ended.abort()
}
