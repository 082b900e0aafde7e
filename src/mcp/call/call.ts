import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
} from '@modelcontextprotocol/server'
import { ApiError } from '../../api/failure.ts'
import { withTimeLimit } from '../../api/time-limit.ts'
import { requestMs } from '../../calls/placing-context.ts'
import type { RouteRequest } from '../../contract/route.ts'
import { accountIn, resultAccount } from '../../session/account.ts'
import { restrictedSession } from '../../session/restricted-session.ts'
import type { Session } from '../../session/session.ts'
import { mapStringsOfObject } from '../../text/map-strings.ts'
import { withIdsForNames } from '../hints/names-to-ids.ts'
import { whyEmpty } from '../hints/why-empty.ts'
import { parseArguments } from './arguments.ts'
import { type Confirm, type ConfirmedCall, NotConfirmed } from './confirmation.ts'
import { badArgumentsResult, defectResult, failureResult, refusalResult } from './error-result.ts'
import { withIgnoredNulls } from './ignored-nulls.ts'
import { Refused } from './refused.ts'
import { successResult, withNote } from './success-result.ts'
import { createTaskResult } from './task.ts'
import type { Run, Tool } from './tool.ts'
import { withReadings } from './with-readings.ts'

export interface CallContext {
  readonly session: Session
  /** All tools that are exposed to the caller. */
  readonly tools: readonly Tool[]
  readonly signal?: AbortSignal
  readonly shutdown?: Run['shutdown']
  /** The time limit of tools that have one, ms. */
  readonly timeLimitMs?: number
  /** Receives defects of this program, with the stack, which the caller must not see. */
  readonly onBug: (error: unknown) => void
  /** How a call of this tool with these arguments asks for confirmation. */
  readonly confirmOf: (call: Omit<ConfirmedCall, 'canAsk' | 'earlier'>) => Promise<Confirm>
  readonly progress: Run['progress']
  readonly takesTasks: boolean
}

type CallResult = CallToolResult | InputRequiredResult

/**
 * One tool call, from arguments to result: the arguments are parsed (arguments.ts), names become
 * ids (hints/names-to-ids.ts), the tool runs, which may ask for confirmation
 * (confirmation.ts), and what comes of it becomes a result (success-result.ts, error-result.ts).
 *
 * Every failure is a result with `isError`. Throws ProtocolError only for a request that answers a
 * question of another call.
 */
export function callTool(
  tool: Tool,
  given: Record<string, unknown>,
  context: CallContext,
): Promise<CallResult> {
  const { signal } = context
  const call: CallState = {
    context,
    request: undefined,
    readings: [],
    signal,
    answerBy: Number.POSITIVE_INFINITY,
  }
  const result = runInTime(tool, given, call)
    .catch((error: unknown) => resultOfError(tool, error, call))
    .then((one) => withReadings(one, call.readings))
  return withoutKey(result, given, context.session)
}

/** What changes in the course of one call. */
interface CallState {
  readonly context: CallContext
  /** Fires when the caller cancels, or the time limit is reached. */
  signal: AbortSignal | undefined
  /** When the steps have to be done, by the clock of `performance.now`, ms. */
  answerBy: number
  /** Present once the arguments are parsed. */
  request: RouteRequest | undefined
  /** Which arguments were given in another form, and how they were read. */
  readings: readonly string[]
}

/** How much earlier than the time limit the steps of a tool end, because they can say more, ms. */
const graceMs = 500

function runInTime(tool: Tool, given: Record<string, unknown>, call: CallState) {
  if (!tool.hasTimeLimit) return run(tool, given, call)
  const { timeLimitMs = requestMs, signal: caller } = call.context
  // One deadline for all requests of the call, from the first on.
  call.answerBy = performance.now() + timeLimitMs - graceMs
  return withTimeLimit(timeLimitMs, caller, (signal) => {
    call.signal = signal
    return run(tool, given, call)
  })
}

async function run(
  tool: Tool,
  given: Record<string, unknown>,
  call: CallState,
): Promise<CallResult> {
  const { session, tools } = call.context
  const restricted = restrictedSession(session, tools)
  const parsed = parseArguments(tool, given, session.pinnedAccount)
  if (!parsed.ok) return badArgumentsResult(tool, parsed.problems)
  call.readings = parsed.readings
  const named = await withIdsForNames(parsed.request, restricted, call.signal)
  if (!named.ok) return badArgumentsResult(tool, [named.problem])
  const { request } = named
  call.request = request
  const { options, cleared, ignoredNulls } = parsed
  const outcome = await tool.run(
    await runOf(tool, { request, named: named.named, options, cleared, restricted }, call),
  )
  if (outcome.task) return createTaskResult(outcome.task)
  const asked = { route: tool.route, request, options, unknown: named.unknown }
  const note = await whyEmpty(outcome.structured, asked, restricted)
  const output = withIgnoredNulls(withNote(outcome, note), ignoredNulls)
  const { accountId = accountIn(request) } = outcome
  const account = await resultAccount(tool.route, { params: { account_id: accountId } }, session)
  return successResult(output, { request, account, shortening: tool.shortening })
}

/** What the steps of the tool work with. */
async function runOf(
  tool: Tool,
  { options: { confirm_token: token, ...options }, ...input }: RunInput,
  { context, signal, answerBy }: CallState,
): Promise<Run> {
  const { session, shutdown, progress, takesTasks, confirmOf } = context
  const confirm = await confirmOf({
    tool: tool.name,
    bound: [input.request, options, session.owner],
    owner: session.owner,
    token: typeof token === 'string' ? token : undefined,
    redact: session.redact,
  })
  // The body was parsed with this tool's route.
  const body = input.request.body as Run['body']
  return {
    ...input,
    ...{ body, options, session, signal, shutdown, answerBy, confirm, progress, takesTasks },
  }
}

type RunInput = Pick<Run, 'request' | 'named' | 'cleared' | 'restricted'> & {
  readonly options: Readonly<Record<string, unknown>>
}

/** What a failed call answers. */
function resultOfError(
  tool: Tool,
  error: unknown,
  { context, request }: CallState,
): Promise<CallResult> | CallResult {
  if (error instanceof NotConfirmed) return error.result
  if (error instanceof ProtocolError) throw error
  if (error instanceof Refused) return refusalResult(tool, error)
  if (error instanceof ApiError) return failureResult(tool, error, { ...context, request })
  context.onBug(error)
  return defectResult(tool)
}

/** The API key may be in the arguments, which results repeat. The platform's replies never hold it. */
function withoutKey(
  result: Promise<CallResult>,
  given: Record<string, unknown>,
  { redact }: Session,
): Promise<CallResult> {
  const sent = JSON.stringify(given)
  if (redact(sent) === sent) return result
  return result.then((one) =>
    'content' in one ? (mapStringsOfObject(one, redact) as CallToolResult) : one,
  )
}
