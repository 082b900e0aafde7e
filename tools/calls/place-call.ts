import * as z from 'zod'
import { isNotPlaced, type Placement } from '../../src/calls/placement.ts'
import { type CallCreate, PlacedCall } from '../../src/contract/call.ts'
import { routes } from '../../src/contract/routes.ts'
import { ApiError, failureText } from '../../src/platform/failure.ts'
import { accountIn } from '../../src/platform/sessions/account.ts'
import { StateError } from '../../src/state/state-access.ts'
import { quoted } from '../../src/text/dialog-text.ts'
import { isObject } from '../../src/text/json.ts'
import { accountArgumentText } from '../../src/tool/account-reader.ts'
import { confirmOption } from '../../src/tool/confirmation.ts'
import { confirmationShape } from '../../src/tool/confirmation-question.ts'
import { defineTool } from '../../src/tool/define-tool.ts'
import { badArguments, Refused } from '../../src/tool/refused.ts'
import { callLines } from '../../src/tool/results/call-report.ts'
import { taskOfCall } from '../../src/tool/task.ts'
import type { Run, ToolOutcome } from '../../src/tool/tool.ts'
import { callQuestion } from './call-question.ts'
import { followCall, followMs, waitedCallOutput } from './follow-calls.ts'
import { notAcceptedRefusal, policyRefusal } from './place-call-errors.ts'
import {
  callerNumber,
  checkDialPolicy,
  dialRequestOf,
  findRepeated,
  placePermitted,
  placingRun,
  readCallingAgent,
  refuseUnknownCallerNumber,
} from './placing-steps.ts'

/** Places one call exactly once: checks the dial policy, asks for confirmation, then sends. */
export const placeCall = defineTool({
  name: 'place_call',
  title: 'Place a call',
  description:
    'Calls a telephone (type phone) or opens a browser call (type web). Costs money and cannot be hung up from here; use wait_for_call next. A repeated identical request is recognised, never dialled twice.',
  route: routes.calls.place,
  view: 'call',
  options: {
    follow: z
      .boolean()
      .optional()
      .describe('true: return when the call has ended, with its transcript; otherwise at once.'),
    ...confirmOption,
  },
  accepts: callerNumber,
  hasTimeLimit: true,
  waits: { with: 'follow' },
  schema: PlacedCall.partial().extend({
    ...confirmationShape,
    repeated: z
      .boolean()
      .optional()
      .describe('True: it had been placed before; not dialled again.'),
  }),
  async run(given) {
    const { body } = given.request
    refuseWrongNumbers(body)
    refuseUnknownCallerNumber(body.from_number)
    const run = await placingRun(given)
    const repeated = await findRepeated(run)
    if (repeated) return placedCallOutcome(run, repeated)
    const agent = await readCallingAgent(body.agent_id, run)
    const dial = dialRequestOf(body, agent)
    const decision = await checkDialPolicy(dial, run)
    if (!decision.allowed) throw policyRefusal(decision)
    const agreement = await run.confirm(() => callQuestion(run, body, agent))
    const placement = await placePermitted(run, dial).catch(async (error: unknown) => {
      if (isRefusedForNow(error)) await agreement.giveBack()
      throw error
    })
    // A view that confirmed the call also follows it, with tool calls of its own.
    const follow = run.options.follow && agreement.by !== 'view'
    return placedCallOutcome({ ...run, options: { follow } }, placement)
  },
})

/**
 * True if nothing was dialled and a retry may succeed. The person's confirmation stays valid for
 * the retry.
 */
const isRefusedForNow = (error: unknown) =>
  error instanceof ApiError
    ? isNotPlaced(error.failure)
    : error instanceof StateError || (error instanceof Refused && error.kind === 'not_allowed')

/** Refuses a phone call without both phone numbers, and a web call with a phone number. */
function refuseWrongNumbers(body: CallCreate): void {
  const numbers = ['from_number', 'to_number'] as const
  const wrong = numbers.filter((name) => (body[name] === undefined) === (body.type === 'phone'))
  if (wrong.length === 0) return
  throw badArguments(
    wrong.map((argument) => ({
      argument,
      message:
        body.type === 'phone'
          ? 'required for type phone'
          : 'a web call dials nobody; for a telephone call use type phone',
    })),
  )
}

type PlacedRun = Pick<
  Run,
  'request' | 'session' | 'signal' | 'shutdown' | 'answerBy' | 'progress' | 'takesTasks'
> & { readonly options: { readonly follow?: boolean | undefined } }

/**
 * The result of place_call: the call at once, a task, or the ended call. Throws Refused if the
 * platform did not accept the call.
 */
export async function placedCallOutcome(
  run: PlacedRun,
  placement: Placement,
): Promise<ToolOutcome> {
  const { call, externalId, isRepeat, isAccepted } = placement
  if (!isAccepted) throw notAcceptedRefusal(call, run)
  const { follow } = run.options
  const account = accountIn(run.request)
  const structured = { ...call, external_id: externalId, repeated: isRepeat }
  if (follow && run.takesTasks) {
    const state = isRepeat ? 'placed before, not dialled again' : 'ringing'
    return { structured, task: taskOfCall({ id: call.id }, account, state) }
  }
  const head = headOf(placement, run)
  if (!follow) return { structured, lines: [head, ...linesOf(placement)] }
  try {
    const forMs = Math.min(followMs, run.answerBy - performance.now())
    const followed = await followCall({ account, callId: call.id }, run, forMs)
    const output = waitedCallOutput(followed, accountArgumentText(run))
    const lines = isRepeat ? [head, ...output.lines] : output.lines
    return { structured: { ...structured, ...output.structured }, lines }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The call was placed, so a failure to follow it is not an error.
    const why = failureText(error.failure)
    const lines = [`${head} It could not be followed so far (${why}).`, ...linesOf(placement)]
    return { structured, lines }
  }
}

/**
 * Fields that neither the request nor the first line shows: how to join a web call, and fields that
 * the platform added. The added fields may contain the callee's speech, so they are marked as
 * untrusted.
 */
function linesOf({ call, externalId }: Placement): string[] {
  const more = Object.entries({ ...call, external_id: externalId }).filter(
    ([name, value]) => !saidBefore.has(name) && usual[name] !== value,
  )
  return more.length > 0 ? callLines(Object.fromEntries(more), PlacedCall.shape) : []
}

const saidBefore = new Set([
  ...['id', 'type', 'direction', 'agent_id', 'agent_name', 'from_number', 'to_number', 'success'],
  ...['started_at', 'ended_at', 'duration_seconds', 'created', 'modified'],
])

/** Values that every ringing call has, so the result omits them. */
const usual: Readonly<Record<string, unknown>> = {
  status: 'in_progress',
  answer_status: 'waiting',
}

function headOf({ call, externalId, isRepeat }: Placement, run: PlacedRun): string {
  const which = `call_id ${call.id}${accountArgumentText(run)}`
  const wait = `wait_for_call, ${which}, follows it to its end.`
  const isWeb = run.request.body?.type === 'web'
  if (!isRepeat) {
    const state = isWeb ? openedNote(call.join) : 'Placed; it is ringing.'
    return `${state} Next: ${wait}${changedIdNote(call.external_id, externalId)}`
  }
  return isWeb
    ? `This browser call was opened before (${which}); no other was opened. Only the first answer says how to enter it (join). For another browser call give a new external_id.`
    : `This call was placed before; it was NOT dialled again. To call the same number again, give a new external_id. ${wait}`
}

/** The sandbox offers a page on which a person talks to the agent. */
const openedNote = (join: unknown): string =>
  isObject(join) && typeof join.page_url === 'string'
    ? 'Opened; a person talks with the agent at join.page_url, in a browser.'
    : 'Opened; enter it with join.'

/**
 * Warns that the platform shortened the external id or changed its case. Only the changed id finds
 * the call.
 */
const changedIdNote = (kept: string | null | undefined, sent: string): string =>
  kept && kept !== sent
    ? ` The platform keeps the external_id as ${quoted(kept)}: in list_calls, look for that one.`
    : ''
