import { type Doubt, ExternalIdConflict, OutcomeUnknown } from '../../src/calls/placement.ts'
import type { Call } from '../../src/contract/call.ts'
import { failureText } from '../../src/platform/failure.ts'
import type { DialRefused } from '../../src/policy/dial-rules.ts'
import { wordOrQuoted } from '../../src/text/dialog-text.ts'
import { accountArgumentText } from '../../src/tool/account-reader.ts'
import { badArgument, Refused } from '../../src/tool/refused.ts'
import type { Run } from '../../src/tool/tool.ts'

type CallRun = Pick<Run, 'request' | 'session'>

/** Turns an error of placing a call into a refusal. Returns other errors unchanged. */
export function placingRefusal(error: unknown, run: CallRun): unknown {
  if (error instanceof OutcomeUnknown) return unknownOutcomeRefusal(error, run)
  return error instanceof ExternalIdConflict ? conflictRefusal(error, run) : error
}

function unknownOutcomeRefusal(error: OutcomeUnknown, run: CallRun): Refused {
  const { externalId, failure, doubt, wasSent } = error
  const which = `external_id ${wordOrQuoted(externalId)}${accountArgumentText(run)}`
  const found = doubt ? doubtText(doubt, run) : 'The platform does not show it so far'
  if (!wasSent)
    return new Refused(
      'unknown_outcome',
      `it is NOT KNOWN whether a call with ${which} was placed before. Nothing was sent now. ${found}`,
      { next: `Look with list_calls, ${which}, and get_call. ${wayOnText(doubt)}` },
    )
  const why = failure ? failureText(failure) : 'an identical request is, or was, under way'
  const byPerson = doubt
    ? ' If that is another call, a person has to decide whether to place this one with another external_id.'
    : ''
  return new Refused(
    'unknown_outcome',
    `it is NOT KNOWN whether the call was placed (${why}); ${which}. ${found}`,
    {
      next: `Look with list_calls, ${which}. Do not use another external_id: somebody's telephone may be ringing. Repeating place_call with ${which} and the same arguments is safe: it dials only once it is certain that there is no call.${byPerson}`,
    },
  )
}

/** Describes the list of calls, which does not prove whether the call was placed. */
function doubtText(doubt: Doubt, { request }: CallRun): string {
  switch (doubt.kind) {
    case 'another person':
      return `The platform lists ${listedText(doubt.call)} under this external_id, not to_number ${wordOrQuoted(String(request.body?.to_number))}`
    case 'may be it':
      return `The platform lists ${listedText(doubt.call)}, which may be this call`
    case 'endless list':
      return 'The list of calls could not be read to its end'
    case 'another request':
      return 'A request with the same external_id and other arguments was sent, and its outcome is not known'
  }
}

const wayOnText = (doubt: Doubt | undefined): string =>
  doubt?.kind === 'another request'
    ? 'Repeat that request with exactly its arguments to learn its outcome.'
    : 'If this call was not placed, place it without external_id: it gets one of its own.'

/**
 * A call from the list as text: call id, called number, and external id if the platform shows it.
 */
function listedText({ id, to_number, external_id }: Partial<Call>): string {
  const fields = { call_id: id, to_number, external_id }
  return Object.entries(fields)
    .flatMap(([name, value]) => (value ? `${name} ${wordOrQuoted(value)}` : []))
    .join(', ')
}

function conflictRefusal({ call }: ExternalIdConflict, run: CallRun): Refused {
  const which = listedText(call)
  const known = which && ` (${which}${accountArgumentText(run)}: look whether it is this one)`
  return badArgument(
    'external_id',
    `is already used by another call${known}; give each call its own, or leave it out`,
  )
}

/** Refusal for a call that the platform recorded but did not accept. */
export function notAcceptedRefusal(call: Pick<Call, 'id' | 'status'>, run: CallRun): Refused {
  const which = `call_id ${call.id}${accountArgumentText(run)}`
  const status = call.status ? `, status ${call.status}` : ''
  return new Refused(
    'not_taken',
    `the platform did NOT accept the call (success false${status}); ${which}`,
    {
      next: `See why with get_call, ${which}. To try again, give a new external_id.`,
    },
  )
}

export function policyRefusal(
  decision: DialRefused,
  { isInBatch = false }: { readonly isInBatch?: boolean } = {},
): Refused {
  const { rule, message, change } = decision
  const when = retryTime(decision)
  const how = isInBatch ? ' with the same list: only the rest is dialled.' : '.'
  const later = when && ` Try again ${when}${how}`
  return new Refused(
    'not_allowed',
    `the call is not allowed (${rule}): ${message} Nothing was dialled`,
    {
      next: `${change}${later} Do not look for a way around it.`,
      retryable: when !== '',
      facts: { rule, ruleText: message, retryAfter: decision.retryAfterSeconds },
    },
  )
}

/** The time to retry, as text; empty if waiting does not help or the time is unknown. */
function retryTime({ rule, retryAfterSeconds }: DialRefused): string {
  if (retryAfterSeconds !== null) return `in ${retryAfterSeconds} s`
  return rule === 'max_at_once' ? 'when a call has ended' : ''
}

/** A refusal as one line. */
export function refusalText({ advice: { what, fields, next } }: Refused): string {
  const details = fields.map(({ argument, message }) => `${argument}: ${message}`)
  return [what, ...details, next]
    .filter(Boolean)
    .join('. ')
    .replaceAll(/([.?!])\. /g, '$1 ')
}
