import { exampleAgent } from './agents.ts'
import { exampleExternalId } from './calls.ts'
import { type Examples, exampleIds } from './ids.ts'
import { examplePeriod } from './usage.ts'

/** An example of each parameter that needs one; a name means the same in every operation. */
export const parameterExamples: Examples = {
  account_id: 'me',
  subaccount_id: exampleIds.subaccount,
  agent_id: exampleIds.agent,
  phone_number_id: exampleIds.number,
  sip_trunk_id: exampleIds.trunk,
  call_id: exampleIds.call,
  conversation_id: exampleIds.call,
  external_id: exampleExternalId,
  limit: 20,
  offset: 40,
  name: 'support',
  status: 'completed',
  tags: exampleAgent.tags,
  created_ge: examplePeriod.start,
  created_lt: examplePeriod.end,
  modified_ge: examplePeriod.start,
  modified_lt: examplePeriod.end,
  created_after: examplePeriod.start,
  created_before: examplePeriod.end,
  updated_after: examplePeriod.start,
  updated_before: examplePeriod.end,
  ...examplePeriod,
  group_by: ['agent', 'type'],
  tz: 'Europe/Berlin',
  provider: 'elevenlabs',
  language: 'en-us',
  search: 'warm',
}
