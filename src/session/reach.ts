import type { Client } from '../api/client.ts'
import { ApiError } from '../api/failure.ts'
import type { Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { accountInForce, ownAccountId } from './account.ts'
import type { Memory } from './memory.ts'
import type { Session } from './session.ts'

/** A tool that is exposed, as far as a session goes by it. */
type ExposedTool = { readonly route: Route }

declare const within: unique symbol

/**
 * A session for what is read besides what a tool was asked for: hints, names of agents, completions,
 * prompts, resources. It reads what an exposed tool reads, of the account that the tools act on, and
 * throws ApiError `not_exposed` for all else. Made by `reachOf` alone, so that no other session gets
 * where this one is wanted.
 */
export type Reach = Session & {
  readonly [within]: true
  /** Whether an exposed tool reads this. */
  readonly may: (route: Route) => boolean
  /** Id of the key's own account: to compare with, not to be shown. Throws ApiError. */
  readonly ownId: () => Promise<string>
}

/** They are made for each session and exposure once. */
const made = new WeakMap<Session, WeakMap<readonly ExposedTool[], Reach>>()

export function reachOf(session: Session, tools: readonly ExposedTool[]): Reach {
  const known = made.get(session) ?? new WeakMap<readonly ExposedTool[], Reach>()
  made.set(session, known)
  const reach = known.get(tools) ?? restricted(session, tools)
  known.set(tools, reach)
  return reach
}

function restricted(session: Session, tools: readonly ExposedTool[]): Reach {
  const { account } = session
  const readable = new Set(
    tools.flatMap(({ route }) => (route.effect === 'reads' ? [route.id] : [])),
  )
  const may = (route: Route) => readable.has(route.id)
  const check = (route: Route, { params }: RouteRequest) => {
    const isOther =
      account !== undefined &&
      'account_id' in route.params.shape &&
      (params.account_id ?? 'me') !== account
    if (may(route) && !isOther) return
    throw new ApiError({ kind: 'not_exposed' }, { ...route, attempts: 0 })
  }
  const ownId = () => ownAccountId(session.memory)
  const client = restrictedClient(session, check)
  const memory = restrictedMemory(session, { check, client, ownId })
  const reach: Omit<Reach, typeof within> = { ...session, client, memory, may, ownId }
  return reach as Reach
}

type Check = (route: Route, request: RouteRequest) => void

/** The account of the key is another one where an account is pinned: the tools tell of that one. */
const isCurrent = (route: Route, { account }: Session) =>
  account !== undefined && account !== 'me' && route.id === routes.accounts.current.id

function restrictedClient(session: Session, check: Check): Client {
  return {
    async call(route, request, signal) {
      check(route, request)
      if (!isCurrent(route, session)) return session.client.call(route, request, signal)
      // The route is that of the account, so this is its reply.
      return (await accountInForce(session, signal)) as never
    },
  }
}

function restrictedMemory(
  session: Session,
  { check, client, ownId }: { check: Check; client: Client; ownId: () => Promise<string> },
): Memory {
  const { memory, account } = session
  const reading =
    (how: 'read' | 'refresh'): Memory['read'] =>
    async (route, request, kept) => {
      check(route, request)
      return isCurrent(route, session)
        ? client.call(route, request)
        : memory[how](route, request, kept)
    }
  return {
    read: reading('read'),
    refresh: reading('refresh'),
    keptMs: memory.keptMs,
    watch(route, request, kept, onChange) {
      try {
        check(route, request)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        // What may not be read is not known to change.
        return () => undefined
      }
      if (account === undefined || !isCurrent(route, session))
        return memory.watch(route, request, kept, onChange)
      const ended = new AbortController()
      const begin = (ownId: string) => {
        if (ended.signal.aborted) return
        const below = { params: { account_id: 'me', subaccount_id: account }, query: {} }
        const stop =
          ownId === account
            ? memory.watch(route, request, kept, onChange)
            : memory.watch(routes.accounts.getSubaccount, below, kept, onChange)
        ended.signal.addEventListener('abort', stop)
      }
      ownId().then(begin, () => undefined)
      return () => ended.abort()
    },
  }
}
