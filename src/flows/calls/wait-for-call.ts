import * as z from 'zod'
import { hasEnded } from '../../calls/call-state.ts'
import type { CallDetail } from '../../contract/call.ts'
import { id } from '../../contract/field.ts'
import type { routes } from '../../contract/routes.ts'
import { badArguments } from '../../mcp/call/refused.ts'
import type { CallTaskView } from '../../mcp/call/task.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { accountIdIn } from '../../session/account.ts'
import { safeLines } from '../../text/safe-text.ts'
import { CallReport, callReport } from '../../views/call-report.ts'
import type { OutputWithLines } from '../../views/tool-output.ts'
import { accountArgumentText } from '../account-in-words.ts'
import { callListShape } from './call-list-result.ts'
import { callProgressText, secondsSoFar } from './call-state-text.ts'
import { followCall } from './follow-call.ts'
import { waitForBatch } from './wait-for-batch.ts'

/** Clients commonly give up after 60 s, so waiting ends before. Seconds. */
const waitDefault = 45
const waitMost = 55

const options = {
  call_id: id('Call id.').optional(),
  batch_id: id('Of place_calls: waits for all its calls.').optional(),
  timeout_seconds: z
    .int()
    .min(1)
    .max(waitMost)
    .optional()
    .meta({ default: waitDefault })
    .describe('Longest wait.'),
}

/** Follows a call, or all calls of a list, until they have ended, or for as long as one request may last. */
export const waitForCallSteps: Steps<typeof routes.calls.get, typeof options> = {
  options,
  // Optional here: a batch is given instead.
  without: ['call_id'],
  reportsProgress: true,
  waits: 'always',
  schema: CallReport.partial().extend({
    ended: z.boolean().describe('False: it goes on; call wait_for_call again.'),
    ...callListShape,
  }),
  async run(run) {
    const { timeout_seconds = waitDefault, call_id: callId, batch_id: batchId } = run.options
    const forMs = timeout_seconds * 1000
    if (callId === undefined && batchId !== undefined) return waitForBatch(batchId, run, forMs)
    if (callId === undefined || batchId !== undefined) throw notOneOfBoth()
    const account = await accountIdIn(run.request, run.session)
    const call = await followCall({ account, callId }, run, forMs)
    return waitedCallOutput(call, accountArgumentText(run))
  },
}

const notOneOfBoth = () =>
  badArguments([{ argument: 'call_id', message: 'give either call_id or batch_id' }])

/** How long a call is followed that was placed in the same request, ms. */
export const followPlacedMs = waitDefault * 1000

/** Turns that are shown of a call that goes on. */
const latestTurns = 6

/**
 * A call at the end of a wait, with its transcript. If it goes on, only the latest turns are shown,
 * because it will be asked for again, and the text says how to wait on; `accountArgument` belongs to it.
 */
export function waitedCallOutput(call: CallDetail, accountArgument = ''): OutputWithLines {
  const ended = hasEnded(call)
  const earlier = ended ? 0 : Math.max(0, (call.messages?.length ?? 0) - latestTurns)
  const { structured, lines } = callReport(call, { from_turn: earlier + 1 })
  const cut = earlier > 0 ? ' Here are its latest turns; get_call shows all.' : ''
  const seconds = secondsSoFar(call)
  // The first line of the report says in which state it is.
  const head = ended
    ? 'The call has ended.'
    : `The call goes on${seconds === undefined ? '' : ` (${seconds} s so far)`}. Wait on with wait_for_call, call_id ${call.id}${accountArgument}.${cut}`
  return { structured: { ...structured, ended }, lines: [head, ...lines] }
}

/** How a call is shown that is followed as a task. */
export const callTaskView: CallTaskView = {
  state: callProgressText,
  result(call) {
    const { structured, lines } = waitedCallOutput(call)
    return { content: [{ type: 'text', text: safeLines(lines) }], structuredContent: structured }
  },
}
