import { ProtocolError } from '@modelcontextprotocol/server'
import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import { resultOr } from '../../api/time-limit.ts'
import type { Agent } from '../../contract/agent.ts'
import type { ReplyOf, Route, RouteRequest } from '../../contract/route.ts'
import { routes } from '../../contract/routes.ts'
import type { CacheTime } from '../../session/reply-cache.ts'
import type { RestrictedSession } from '../../session/restricted-session.ts'
import { didYouMean } from '../hints/did-you-mean.ts'
import { withIdsForNames } from '../hints/names-to-ids.ts'

/** The value that was read, or the reason in words why it could not be read. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** A request without its account, which the reader adds. */
type PartialRequest = Partial<RouteRequest>

/** Reads the platform for one prompt, on the account that the prompt is about. */
export interface PromptReader {
  readonly account: string
  /**
   * Reads the subject of the prompt. Throws a ProtocolError that names `argument`, which identifies
   * the subject.
   */
  require<R extends Route>(
    route: R,
    request: PartialRequest,
    argument?: string,
  ): Promise<ReplyOf<R>>
  /** Reads the agent with that id or exact name. Throws ProtocolError. */
  requireAgent(reference: string): Promise<Agent>
  /** Reads from the platform. Throws ApiError. */
  call<R extends Route>(route: R, request: PartialRequest): Promise<ReplyOf<R>>
  /** Reads what rarely changes: a reply that is some minutes old will do. Throws ApiError. */
  cached<R extends Route>(route: R, request: PartialRequest, time: CacheTime): Promise<ReplyOf<R>>
  /** Reads it now, for the cache too. Throws ApiError. */
  refreshed<R extends Route>(
    route: R,
    request: PartialRequest,
    time: CacheTime,
  ): Promise<ReplyOf<R>>
  /** What came of optional work: an ApiError, or no answer in time, does not fail the prompt. */
  attempt<T>(work: Promise<T>): Promise<ReadResult<T>>
  /** The protocol's invalid-params error about an argument. */
  invalidArgument(argument: string, problem: string): ProtocolError
}

interface PromptRequest {
  readonly prompt: string
  readonly session: RestrictedSession
  readonly account: string
  readonly signal: AbortSignal
}

/** Longest text about agent names in an error, in characters. */
const longestProblem = 500

/** How long a prompt waits for optional data, ms. */
const optionalDataMs = 10_000

export function createPromptReader(prompt: PromptRequest): PromptReader {
  const { session, account, signal } = prompt
  const { client, cache, redact } = session
  const requestOf = ({ params, query = {}, ...rest }: PartialRequest): RouteRequest => ({
    ...rest,
    query,
    params: { account_id: account, ...params },
  })
  const invalidArgument = (argument: string, problem: string) =>
    new ProtocolError(-32602, redact(`${prompt.prompt}: ${argument}: ${problem}`))

  const require = async <R extends Route>(route: R, given: PartialRequest, argument?: string) => {
    const request = requestOf(given)
    return client
      .call(route, request, signal)
      .catch(asProtocolError({ ...prompt, route, request, argument }))
  }

  return {
    account,
    invalidArgument,
    require,
    async requireAgent(reference) {
      const request = requestOf({ params: { agent_id: reference } })
      const route = routes.agents.list
      const named = await withIdsForNames(request, session, signal).catch(
        asProtocolError({ ...prompt, route, request, argument: 'agent_id' }),
      )
      if (!named.ok) {
        throw invalidArgument('agent_id', named.problem.message.slice(0, longestProblem))
      }
      return require(routes.agents.get, named.request, 'agent_id')
    },
    call: (route, given) => client.call(route, requestOf(given), signal),
    cached: (route, given, time) => cache.read(route, requestOf(given), time),
    refreshed: (route, given, time) => cache.refresh(route, requestOf(given), time),
    attempt: (work) => attempt(work, signal),
  }
}

interface FailedRequest extends PromptRequest {
  readonly route: Route
  readonly request: RouteRequest
  /** The argument that names what is read. */
  readonly argument: string | undefined
}

/** Turns an ApiError into an error about the argument, if the platform does not know its value. */
const asProtocolError =
  (failed: FailedRequest) =>
  async (error: unknown): Promise<never> => {
    if (!(error instanceof ApiError)) throw error
    throw await protocolErrorOf(error, failed)
  }

async function protocolErrorOf(
  error: ApiError,
  { prompt, session, route, request, argument }: FailedRequest,
): Promise<ProtocolError> {
  const { failure } = error
  const isRefused = failure.kind === 'rejected' && [404, 422].includes(failure.status)
  if (argument === undefined || !(isRefused || failure.kind === 'bad_parameter')) {
    return new ProtocolError(
      -32603,
      session.redact(`${prompt}: ${route.summary} It could not be read (${failureText(failure)}).`),
    )
  }
  const hints = await didYouMean(error, request, session)
  // The unknown id may be that of the account.
  const named = 'account_id' in hints ? 'account_id' : argument
  const hint = Object.values(hints).join(' ')
  return new ProtocolError(
    -32602,
    session.redact(`${prompt}: ${named}: not found (${failureText(failure)}). ${hint}`.trim()),
  )
}

async function attempt<T>(work: Promise<T>, signal: AbortSignal): Promise<ReadResult<T>> {
  const read = work.then(
    (value): ReadResult<T> => ({ ok: true, value }),
    (error: unknown): ReadResult<T> => {
      if (!(error instanceof ApiError)) throw error
      return { ok: false, problem: failureText(error.failure) }
    },
  )
  const missed = (reason: 'late' | 'aborted'): ReadResult<T> => ({
    ok: false,
    problem: reason === 'late' ? `nothing within ${optionalDataMs / 1000} s` : 'cancelled',
  })
  return resultOr(read, missed, { ms: optionalDataMs, signal })
}
