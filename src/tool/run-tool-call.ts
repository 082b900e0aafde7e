import type { CallToolResult } from '@modelcontextprotocol/server'
import { ApiError } from '../platform/failure.ts'
import { accountIn, resultAccount } from '../platform/sessions/account.ts'
import { restrictedSession } from '../platform/sessions/restricted-session.ts'
import type { Session } from '../platform/sessions/session.ts'
import { requestMs, withTimeLimit } from '../platform/time-limit.ts'
import { isStateSlow, StateError, withStateDeadline } from '../state/state-access.ts'
import { mapStringsOfObject } from '../text/safe-text.ts'
import { parseArguments } from './arguments.ts'
import { type Confirm, type ConfirmedCall, isCheck, nothingAsked } from './confirmation.ts'
import { whyEmpty } from './lists/why-empty.ts'
import { withIdsForNames } from './references/names-to-ids.ts'
import { invalidArguments, stateRefusal } from './refused.ts'
import {
  type CallResult,
  type FailureContext,
  failedResult,
  successResult,
  withCoercions,
} from './result.ts'
import { createTaskResult } from './task.ts'
import type { Run, Tool } from './tool.ts'

/** Context of a tool call. `tools`: the tools that the caller may use. */
export interface CallContext extends Omit<FailureContext, 'request'> {
  readonly signal?: AbortSignal
  readonly shutdown?: Run['shutdown']
  readonly timeLimitMs?: number
  /** Returns the function that asks for confirmation in one tool call. */
  readonly confirmOf: (call: Omit<ConfirmedCall, 'asksIn' | 'earlier'>) => Promise<Confirm>
  readonly progress: Run['progress']
  readonly takesTasks: boolean
}

/**
 * Runs one tool call, from arguments to result. Parses the arguments (arguments.ts), replaces names
 * with ids (references/names-to-ids.ts), runs the tool, which may ask for confirmation
 * (confirmation.ts), and turns the output into a result (result.ts). Every failure is a result with
 * `isError`. Throws ProtocolError only for a request that answers the question of another tool
 * call.
 */
export async function runToolCall(
  tool: Tool,
  given: Record<string, unknown>,
  context: CallContext,
): Promise<CallResult> {
  const call: CallProgress = {
    context,
    request: undefined,
    coercions: [],
    signal: context.signal,
    begunAt: performance.now(),
    answerBy: Number.POSITIVE_INFINITY,
  }
  const work = tool.hasTimeLimit ? runInTime(tool, given, call) : run(tool, given, call)
  const ended = await work.catch((error: unknown) =>
    failedResult(tool, error, { ...context, request: call.request }),
  )
  const result = call.coercions.length > 0 ? withCoercions(ended, call.coercions) : ended
  // Results repeat arguments, which may contain the API key. Replies of the platform never contain
  // it.
  const { redact } = context.session
  const sent = JSON.stringify(given)
  if (redact(sent) === sent || !('content' in result)) return result
  return mapStringsOfObject(result, redact) as CallToolResult
}

interface CallProgress extends Pick<Run, 'begunAt'> {
  readonly context: CallContext
  /** Aborts when the caller cancels, or at the time limit. */
  signal: AbortSignal | undefined
  /** Deadline of the tool's steps, as a time of `performance.now`, ms. */
  answerBy: number
  /** The parsed request and options, for advice; absent until the arguments are parsed. */
  request: FailureContext['request']
  /** One text per coerced argument. */
  coercions: readonly string[]
}

async function run(
  tool: Tool,
  given: Record<string, unknown>,
  call: CallProgress,
): Promise<CallResult> {
  const { session, tools, shutdown, progress, takesTasks, confirmOf, stateFailed } = call.context
  const parsed = parseArguments(tool, given, session.pinnedAccount)
  if (!parsed.ok) throw invalidArguments(parsed.problems)
  call.coercions = parsed.coercions
  const restricted = restrictedSession(session, tools)
  const resolved = await withIdsForNames(parsed.request, restricted, call.signal)
  if (!resolved.ok) throw invalidArguments([resolved.problem])
  const { request, named, unknown } = resolved
  const { confirm_token: confirmToken, ...options } = parsed.options
  const token = typeof confirmToken === 'string' ? confirmToken : undefined
  // Only a view asks whether its token is still valid. Nothing is changed then.
  const isOnlyCheck = isCheck(token)
  // Advice after a failure also checks options: a tool may send one in another request, such as the
  // original of a copy.
  const withOptions = { ...request, query: { ...options, ...request.query } }
  call.request = withOptions
  const confirm = await confirmOf({
    tool: tool.name,
    bound: [request, options, session.keyHash],
    keyHash: session.keyHash,
    token,
    redact: session.redact,
  })
  const { signal, begunAt, answerBy } = call
  const outcome = await tool.run({
    ...{ request, named, options, restricted, cleared: parsed.cleared },
    session: isOnlyCheck ? readingOnly(session) : session,
    ...{ signal, shutdown, begunAt, answerBy, confirm, progress },
    // A view cannot receive a task.
    takesTasks: takesTasks && !isOnlyCheck,
    noteCoercion(coercion) {
      if (!call.coercions.includes(coercion)) call.coercions = [...call.coercions, coercion]
    },
    stateRefusal: (error) => stateRefusal(error, stateFailed?.(error)),
  })
  if (outcome.task) return createTaskResult(outcome.task)
  const asked = { route: tool.route, request, options, unknown }
  const note = await whyEmpty(outcome.structured, asked, restricted)
  const { accountId = accountIn(request) } = outcome
  const account = await resultAccount(tool.route, { params: { account_id: accountId } }, session)
  const { ignoredNulls } = parsed
  return successResult(tool, outcome, { request: withOptions, account, note, ignoredNulls })
}

/** Restricts a session to reading. */
const readingOnly = (session: Session): Session => ({
  ...session,
  client: {
    call(route, request, signal) {
      if (route.effect !== 'reads') throw nothingAsked()
      return session.client.call(route, request, signal)
    },
  },
})

/**
 * Time between the end of the tool's steps and the time limit, ms. The result of the steps says
 * more than a timeout.
 */
const graceMs = 500

/** Runs a tool. All its requests share one deadline, counted from the first. */
function runInTime(tool: Tool, given: Record<string, unknown>, call: CallProgress) {
  const { timeLimitMs = requestMs, signal: caller } = call.context
  call.answerBy = call.begunAt + timeLimitMs - graceMs
  return withStateDeadline(call.answerBy, () =>
    withTimeLimit(timeLimitMs, caller, (signal) => {
      call.signal = signal
      return run(tool, given, call)
    }).catch((error: unknown) => {
      if (!isLateByState(error)) throw error
      throw new StateError('The state answers too slowly.', { cause: error, isTemporary: true })
    }),
  )
}

/** True if time ran out while waiting for the state store, and nothing was changed. */
const isLateByState = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.failure.kind === 'timeout' &&
  (error.effect === 'reads' || !error.failure.maybeSent) &&
  isStateSlow()
