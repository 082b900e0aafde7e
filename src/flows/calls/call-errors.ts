import { failureText } from '../../api/failure-text.ts'
import { ExternalIdConflict, OutcomeUnknown } from '../../calls/placement.ts'
import type { Call } from '../../contract/call.ts'
import { badArguments, Refused } from '../../mcp/call/refused.ts'
import type { Run } from '../../mcp/call/tool.ts'
import { JournalError } from '../../state/journal.ts'
import { accountArgumentText } from '../account-in-words.ts'

type CallRun = Pick<Run, 'request' | 'session'>

/** Does work on calls. Errors of placing calls and of the journal are thrown as Refused. */
export async function withCallErrorsRefused<T>(run: CallRun, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof OutcomeUnknown) throw unknownOutcomeRefusal(error, run)
    if (error instanceof ExternalIdConflict)
      throw badArguments([
        {
          argument: 'external_id',
          message: 'stands for another call already; give each call its own, or leave it out',
        },
      ])
    if (error instanceof JournalError)
      throw new Refused('not_allowed', error.message, {
        next: 'Do what the message says, then place the call again.',
      })
    throw error
  }
}

function unknownOutcomeRefusal({ externalId, failure }: OutcomeUnknown, run: CallRun): Refused {
  const why = failure ? failureText(failure) : 'an identical request is, or was, under way'
  const which = `external_id ${externalId}${accountArgumentText(run)}`
  return new Refused(
    'unknown_outcome',
    `it is NOT KNOWN whether the call was placed (${why}); ${which}. The platform does not show it so far`,
    {
      next: `Look with list_calls, ${which}. Do not place it under another external_id: somebody's telephone may be ringing. Calling place_call again with ${which} and the same arguments is safe: it looks first, and dials only once it is certain that there is no call.`,
    },
  )
}

/** For a call that the platform has a record of and says that it did not accept it. */
export function notAcceptedRefusal(call: Pick<Call, 'id' | 'status'>, run: CallRun): Refused {
  const which = `call_id ${call.id}${accountArgumentText(run)}`
  const status = call.status ? `, status ${call.status}` : ''
  return new Refused(
    'not_taken',
    `the platform did NOT accept the call (success false${status}); ${which}`,
    {
      next: `Look why with get_call, ${which}. It is not sent again by itself: for another try give it an external_id of its own.`,
    },
  )
}

/** A refusal in one line. */
export function refusalText({ advice: { what, fields, next } }: Refused): string {
  const details = fields.map(({ argument, message }) => `${argument}: ${message}`)
  return [what, ...details, next].filter(Boolean).join('. ')
}
