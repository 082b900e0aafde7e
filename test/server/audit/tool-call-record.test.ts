import { expect, test } from 'vitest'
import { auditOutcome } from '../../../src/server/audit/tool-call-record.ts'

const ends = (outcomes: string) =>
  outcomes
    .split(' ')
    .filter(Boolean)
    .map((outcome) => ({ operation: 'agents.update', outcome }))

test.each([
  // Result of the tool call, outcomes of its writes and targets, and the audited outcome.
  ['ok', '', '', 'unchanged'],
  ['ok', 'done done', '', 'done'],
  ['task', 'done', '', 'done'],
  ['ok', 'done failed', '', 'partly'],
  ['ok', 'done', 'updated failed', 'partly'],
  ['ok', 'done', 'placed not_allowed', 'partly'],
  ['ok', 'done', 'updated not_tried', 'partly'],
  ['ok', '', 'unchanged unchanged', 'unchanged'],
  ['ok', '', 'unchanged failed', 'partly'],
  ['ok', 'done unknown', '', 'unknown'],
  ['ok', 'done', 'repeated unknown', 'unknown'],
  ['ok', '', 'not_allowed not_allowed', 'failed'],
  ['rejected', 'done failed', '', 'partly'],
  ['rejected', 'done', '', 'partly'],
  ['rejected', 'failed', '', 'failed'],
  ['timeout', 'unknown', '', 'unknown'],
  ['cancelled', 'sent', '', 'unknown'],
  ['rejected', '', '', 'failed'],
  ['all_failed', '', '', 'failed'],
  ['unknown_outcome', '', '', 'unknown'],
  ['not_allowed', '', '', 'refused'],
  ['needs_person', '', '', 'refused'],
  ['confirmation_declined', '', '', 'refused'],
  ['not_exposed', '', '', 'refused'],
  ['bad_arguments', '', '', 'refused'],
  ['not_recorded', 'failed', '', 'refused'],
  ['internal', '', '', 'failed'],
  ['internal', 'done', '', 'partly'],
])('%s with the writes "%s" and the targets "%s" is %s', (word, writes, targets, outcome) => {
  const given = ends(targets).map((one) => ({ ...one, id: 'a', to_number: undefined }))
  const isSuccess = word === 'ok' || word === 'task'
  expect(auditOutcome({ word, targets: given }, ends(writes))).toEqual({
    outcome,
    ...(!isSuccess && { reason: word }),
  })
})
