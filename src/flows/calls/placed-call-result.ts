import { ApiError } from '../../api/failure.ts'
import type { Placement } from '../../calls/placement.ts'
import { PlacedCall } from '../../contract/call.ts'
import { taskOfCall } from '../../mcp/call/task.ts'
import type { Run, ToolOutcome } from '../../mcp/call/tool.ts'
import { accountIn } from '../../session/account.ts'
import { quoted } from '../../text/quoted.ts'
import { callFacts } from '../../views/call-report.ts'
import { accountArgumentText } from '../account-in-words.ts'
import type { Bounded } from './bounded-run.ts'
import { failureWord, refuseNotTaken } from './call-errors.ts'
import { followCall, followPlacedMs, shownCall } from './wait-for-call.ts'

type Telling = Pick<
  Run,
  'request' | 'session' | 'signal' | 'shutdown' | 'progress' | 'takesTasks'
> &
  Bounded & { readonly options: { readonly follow?: boolean | undefined } }

/** What is told of a call that was placed: at once, as a task, or when it has ended. */
export async function placedCall(run: Telling, placement: Placement): Promise<ToolOutcome> {
  refuseNotTaken(placement, run)
  const structured = structuredOf(placement)
  const head = headOf(placement, run)
  const facts = factsOf(placement)
  if (!run.options.follow) return { structured, lines: [head, ...facts] }
  const account = accountIn(run.request)
  const { id: callId } = placement.call
  if (run.takesTasks) {
    const said = placement.isRepeat ? 'placed before, not dialled again' : 'ringing'
    return { structured, task: taskOfCall({ id: callId }, account, said) }
  }
  try {
    const forMs = Math.min(followPlacedMs, run.until - performance.now())
    const call = await followCall({ account, callId }, run, forMs)
    const followed = shownCall(call, accountArgumentText(run))
    const lines = placement.isRepeat ? [head, ...followed.lines] : followed.lines
    return { structured: { ...structured, ...followed.structured }, lines }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // That it was placed is what matters, and stays true.
    const why = failureWord(error.failure)
    return { structured, lines: [`${head} It could not be followed so far (${why}).`, ...facts] }
  }
}

/** One that was placed before may have been spoken on, and what is told of that is not ours. */
const factsOf = ({ call, externalId }: Placement) =>
  callFacts({ ...call, external_id: externalId }, PlacedCall.shape)

const structuredOf = ({ call, externalId, isRepeat }: Placement) => ({
  ...call,
  external_id: externalId,
  repeated: isRepeat,
})

function headOf({ call, externalId, isRepeat }: Placement, run: Telling): string {
  const wait = `wait_for_call, call_id ${call.id}${accountArgumentText(run)}, follows it to its end.`
  if (!isRepeat) return `Placed. ${wait}${otherId(call.external_id, externalId)}`
  return run.request.body?.type === 'web'
    ? 'This browser call had been opened before; no other was opened. How to enter it (join) is told once, in the first answer: for a new one give an external_id of its own.'
    : `This call had been placed before; it was NOT dialled again. For another call to the same number give an external_id of its own. ${wait}`
}

/** A platform may shorten an external id or change its case, and then finds the call only by that. */
const otherId = (kept: string | null | undefined, sent: string): string =>
  kept && kept !== sent
    ? ` The platform keeps the external_id as ${quoted(kept)}: in list_calls, look for that one.`
    : ''
