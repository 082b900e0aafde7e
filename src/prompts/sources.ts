import { ProtocolError } from '@modelcontextprotocol/server'
import { ApiError } from '../api/failure.ts'
import { saidBy } from '../api/failure-text.ts'
import { resultOr } from '../api/time-limit.ts'
import type { Agent } from '../contract/agent.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { withAgentIds } from '../mcp/hints/agent-names.ts'
import { didYouMean } from '../mcp/hints/did-you-mean.ts'
import { isNotFound } from '../mcp/hints/missing.ts'
import type { CacheTime } from '../session/reply-cache.ts'
import type { RestrictedSession } from '../session/restricted-session.ts'

/** What was read beside the main thing, or what was said instead. */
export type Read<T> = { ok: true; value: T } | NotRead

interface NotRead {
  readonly ok: false
  readonly said: string
  /** The platform said that there is no such thing. */
  readonly isMissing?: boolean
}

/** What is asked for; the account is added. */
type Asked = Partial<RouteRequest>

/** Where a prompt reads from: the platform, on the account that the prompt is about. */
export interface Sources {
  readonly account: string
  readonly isSandbox: boolean
  /** What the prompt is about: without it there is no prompt. `argument` is what names it. */
  need<R extends Route>(route: R, asked: Asked, argument?: string): Promise<ReplyOf<R>>
  /** The agent of that id or exact name. */
  agent(reference: string): Promise<Agent>
  /** What is good to have: its failure is told and is none of the prompt. */
  beside<R extends Route>(route: R, asked: Asked): Promise<Read<ReplyOf<R>>>
  /** The same for what changes rarely, out of memory. */
  kept<R extends Route>(route: R, asked: Asked, kept: CacheTime): Promise<Read<ReplyOf<R>>>
  /** Says that an argument cannot be right. */
  refuse(argument: string, problem: string): ProtocolError
}

interface Reading {
  readonly prompt: string
  readonly session: RestrictedSession
  readonly account: string
  readonly signal: AbortSignal
}

/** Longest text of others in an error, in characters. */
const longestSaid = 500

/** How long a prompt waits for what is only good to have, ms. */
const patienceMs = 10_000

export function createSources(reading: Reading): Sources {
  const { prompt, session, account, signal } = reading
  const { client, cache, redact } = session
  const requestOf = ({ params, query = {}, ...rest }: Asked = {}): RouteRequest => ({
    ...rest,
    query,
    params: { account_id: account, ...params },
  })
  const refuse = (argument: string, problem: string) =>
    new ProtocolError(-32602, redact(`${prompt}: ${argument}: ${problem}`))

  const need = async <R extends Route>(route: R, asked: Asked, argument?: string) => {
    const request = requestOf(asked)
    try {
      return await client.call(route, request, signal)
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      throw await mainFailure(error, { ...reading, route, request, argument })
    }
  }

  return {
    account,
    isSandbox: session.isSandbox,
    refuse,
    need,
    async agent(reference) {
      const request = requestOf({ params: { agent_id: reference } })
      const named = await withAgentIds(request, session, signal).catch(async (error: unknown) => {
        if (!(error instanceof ApiError)) throw error
        throw await mainFailure(error, {
          ...reading,
          route: routes.agents.list,
          request,
          argument: 'agent_id',
        })
      })
      if (!named.ok) {
        const problem = named.problem.message
        throw refuse('agent_id', problem.slice(0, longestSaid))
      }
      return need(routes.agents.get, named.request, 'agent_id')
    },
    beside: (route, asked) => patiently(client.call(route, requestOf(asked), signal), signal),
    kept: (route, asked, kept) => patiently(cache.read(route, requestOf(asked), kept), signal),
  }
}

/** What is wrong with the argument, where the platform does not know it; otherwise what failed. */
async function mainFailure(
  error: ApiError,
  about: Reading & { route: Route; request: RouteRequest; argument: string | undefined },
): Promise<ProtocolError> {
  const { failure } = error
  const { prompt, session, route, request, argument } = about
  const isRefused = failure.kind === 'rejected' && [404, 422].includes(failure.status)
  if (argument === undefined || !(isRefused || failure.kind === 'bad_parameter')) {
    return new ProtocolError(
      -32603,
      session.redact(`${prompt}: ${route.summary} It could not be read (${saidBy(failure)}).`),
    )
  }
  const hints = await didYouMean(error, request, session)
  // What is unknown may be the account itself.
  const named = 'account_id' in hints ? 'account_id' : argument
  const hint = Object.values(hints).join(' ')
  return new ProtocolError(
    -32602,
    session.redact(`${prompt}: ${named}: not found (${saidBy(failure)}). ${hint}`.trim()),
  )
}

async function patiently<T>(reading: Promise<T>, signal: AbortSignal): Promise<Read<T>> {
  const read = reading.then(
    (value): Read<T> => ({ ok: true, value }),
    (error: unknown): Read<T> => {
      if (!(error instanceof ApiError)) throw error
      return { ok: false, said: saidBy(error.failure), isMissing: isNotFound(error) }
    },
  )
  const notRead = (reason: 'late' | 'aborted'): Read<T> => ({
    ok: false,
    said: reason === 'late' ? `nothing within ${patienceMs / 1000} s` : 'cancelled',
  })
  return resultOr(read, notRead, { ms: patienceMs, signal })
}
