import * as z from 'zod'
import { ApiError } from '../../api/failure.ts'
import { isNotPlaced } from '../../calls/not-placed.ts'
import { type CallCreate, PlacedCall } from '../../contract/call.ts'
import type { routes } from '../../contract/routes.ts'
import { confirmOption } from '../../mcp/call/confirmation.ts'
import { confirmationShape } from '../../mcp/call/confirmation-results.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Steps } from '../../mcp/call/tool.ts'
import { callQuestion } from './call-question.ts'
import { callerNumber, refuseNoNumber } from './caller-number.ts'
import { checkDialPolicy, dialRequestOf, policyRefusal } from './dial-policy-check.ts'
import { findRepeated, placePermitted, readSpeaker } from './place-permitted.ts'
import { placedCallOutcome } from './placed-call-result.ts'
import { placingRun } from './placing-run.ts'

const options = {
  follow: z
    .boolean()
    .optional()
    .describe('true: answer when the call has ended, with its transcript.'),
  ...confirmOption,
}

/** Places one call exactly once: checked against the dial policy, confirmed, then sent. */
export const placeCallSteps: Steps<typeof routes.calls.place, typeof options> = {
  options,
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
    const { body } = given
    refuseMixedUp(body)
    refuseNoNumber(body.from_number)
    const run = await placingRun(given)
    const repeated = await findRepeated(run)
    if (repeated) return placedCallOutcome(run, repeated)
    const agent = await readSpeaker(body.agent_id, run)
    const dial = dialRequestOf(run, body, agent)
    const decision = await checkDialPolicy(dial, run)
    if (!decision.allowed) throw policyRefusal(decision)
    const agreement = await run.confirm(() => callQuestion(run, body, agent))
    const placement = await placePermitted(run, dial).catch(async (error: unknown) => {
      if (isRefusedForNow(error)) await agreement.giveBack()
      throw error
    })
    return placedCallOutcome(run, placement)
  },
}

/** Nothing was dialled, and a later try may succeed: the person's agreement stays valid for it. */
const isRefusedForNow = (error: unknown) =>
  error instanceof ApiError
    ? isNotPlaced(error.failure)
    : error instanceof Refused && error.kind === 'not_allowed'

/** Refuses a phone call without its two numbers, and a web call with one. */
function refuseMixedUp(body: CallCreate): void {
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
