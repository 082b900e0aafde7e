import { ApiError } from '../../api/failure.ts'
import { failureText } from '../../api/failure-text.ts'
import type { Placement } from '../../calls/placement.ts'
import { PlacedCall } from '../../contract/call.ts'
import { isObject } from '../../json/is-object.ts'
import { taskOfCall } from '../../mcp/call/task.ts'
import type { Run, ToolOutcome } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { quoted } from '../../text/dialog-text.ts'
import { callLines } from '../../views/call-report.ts'
import { accountArgumentText } from '../account-in-words.ts'
import { notAcceptedRefusal } from './call-errors.ts'
import { followCall } from './follow-call.ts'
import { followPlacedMs, waitedCallOutput } from './wait-for-call.ts'

type PlacedRun = Pick<
  Run,
  'request' | 'session' | 'signal' | 'shutdown' | 'answerBy' | 'progress' | 'takesTasks'
> & { readonly options: { readonly follow?: boolean | undefined } }

/**
 * The result of place_call: the call at once, or a task, or the call when it has ended. Throws Refused
 * if the platform did not accept the call.
 */
export async function placedCallOutcome(
  run: PlacedRun,
  placement: Placement,
): Promise<ToolOutcome> {
  const { call, isRepeat, isAccepted } = placement
  if (!isAccepted) throw notAcceptedRefusal(call, run)
  const structured = structuredOf(placement)
  if (run.options.follow && run.takesTasks) {
    const state = isRepeat ? 'placed before, not dialled again' : 'ringing'
    return { structured, task: taskOfCall({ id: call.id }, accountIn(run.request), state) }
  }
  return run.options.follow
    ? followedOutcome(run, placement)
    : { structured, lines: [headOf(placement, run), ...linesOf(placement)] }
}

async function followedOutcome(run: PlacedRun, placement: Placement): Promise<ToolOutcome> {
  const structured = structuredOf(placement)
  const head = headOf(placement, run)
  const followed = { account: accountIn(run.request), callId: placement.call.id }
  try {
    const forMs = Math.min(followPlacedMs, run.answerBy - performance.now())
    const call = await followCall(followed, run, forMs)
    const output = waitedCallOutput(call, accountArgumentText(run))
    const lines = placement.isRepeat ? [head, ...output.lines] : output.lines
    return { structured: { ...structured, ...output.structured }, lines }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The call was placed all the same, so this is no failure.
    const why = failureText(error.failure)
    const lines = [`${head} It could not be followed so far (${why}).`, ...linesOf(placement)]
    return { structured, lines }
  }
}

/**
 * What neither the request nor the first line says: how to enter a browser call, and fields of the
 * platform, which in a call that was placed before may hold what the callee said.
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

/** Of a call that rings. */
const usual: Readonly<Record<string, unknown>> = {
  status: 'in_progress',
  answer_status: 'waiting',
}

const structuredOf = ({ call, externalId, isRepeat }: Placement) => ({
  ...call,
  external_id: externalId,
  repeated: isRepeat,
})

function headOf({ call, externalId, isRepeat }: Placement, run: PlacedRun): string {
  const which = `call_id ${call.id}${accountArgumentText(run)}`
  const wait = `wait_for_call, ${which}, follows it to its end.`
  const isWeb = run.request.body?.type === 'web'
  if (!isRepeat) {
    const state = isWeb
      ? openedNote(call.join)
      : 'Placed; this is the answer at once, while it rings.'
    return `${state} Next: ${wait}${changedIdNote(call.external_id, externalId)}`
  }
  return isWeb
    ? `This browser call was opened before (${which}); no other was opened. Only the first answer says how to enter it (join). For another browser call give an external_id of its own.`
    : `This call was placed before; it was NOT dialled again. For another call to the same number give an external_id of its own. ${wait}`
}

/** The sandbox has a page on which a person talks with the agent. */
const openedNote = (join: unknown): string =>
  isObject(join) && typeof join.page_url === 'string'
    ? 'Opened; a person talks with the agent at join.page_url, in a browser.'
    : 'Opened; enter it with join.'

/** A platform may shorten an external id or change its case, and then finds the call only by that. */
const changedIdNote = (kept: string | null | undefined, sent: string): string =>
  kept && kept !== sent
    ? ` The platform keeps the external_id as ${quoted(kept)}: in list_calls, look for that one.`
    : ''
