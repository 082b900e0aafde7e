import { ProtocolError } from '@modelcontextprotocol/server'
import type { Agent } from '../contract/agent.ts'
import type { ReplyOf, Route, RouteRequest } from '../contract/route.ts'
import { routes } from '../contract/routes.ts'
import { ApiError, failureText, isRejectedWith } from '../platform/failure.ts'
import type { RestrictedSession } from '../platform/sessions/restricted-session.ts'
import { resultOr } from '../platform/time-limit.ts'
import { accountReader } from '../tool/account-reader.ts'
import { didYouMean } from '../tool/references/did-you-mean.ts'
import { withIdsForNames } from '../tool/references/names-to-ids.ts'

/** A value that was read, or the reason, as text, why it could not be read. */
export type ReadResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: string }

/** Reads the platform for one prompt, on the account that the prompt is about. */
export type PromptReader = ReturnType<typeof createPromptReader>

interface PromptRequest {
  readonly prompt: string
  readonly session: RestrictedSession
  readonly account: string
  readonly signal: AbortSignal
}

/** Maximum length of an error about an agent's name, characters: it may list many agents. */
const longestProblem = 500

/** Timeout for optional data of a prompt, ms. */
const optionalDataMs = 10_000

export function createPromptReader(prompt: PromptRequest) {
  const { session, account, signal } = prompt
  const { client, redact } = session
  const request = { params: { account_id: account }, query: {} }
  const reader = accountReader({ request, session, signal })
  const { requestOf } = reader
  /** The protocol's invalid-params error about an argument. */
  const invalidArgument = (argument: string, problem: string) =>
    new ProtocolError(-32602, redact(`${prompt.prompt}: ${argument}: ${problem}`))

  /**
   * Reads the subject of the prompt. Throws a ProtocolError that names `argument`, which identifies
   * the subject.
   */
  const require = async <R extends Route>(
    route: R,
    given: Partial<RouteRequest>,
    argument?: string,
  ): Promise<ReplyOf<R>> => {
    const request = requestOf(given)
    return client
      .call(route, request, signal)
      .catch(asProtocolError({ ...prompt, route, request, argument }))
  }

  return {
    ...reader,
    ...{ session, signal, invalidArgument, require },
    /** Reads the agent with that id or exact name. Throws ProtocolError. */
    async requireAgent(reference: string): Promise<Agent> {
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
    /**
     * Waits for optional data, up to `optionalDataMs`. An ApiError, a timeout or a cancellation
     * becomes a `problem` and does not fail the prompt.
     */
    attempt: <T>(work: Promise<T>) => attempt(work, signal),
  }
}

interface FailedRequest extends PromptRequest {
  readonly route: Route
  readonly request: RouteRequest
  /** The argument whose value identifies the object, if any. */
  readonly argument: string | undefined
}

/**
 * Rethrows an ApiError as a ProtocolError: about the argument if the platform refuses its value,
 * otherwise an internal error with the reason.
 */
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
  const isRefused = isRejectedWith(error, 404, 422) || failure.kind === 'bad_parameter'
  if (argument === undefined || !isRefused) {
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
