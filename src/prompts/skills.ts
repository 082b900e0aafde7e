import type { Skill } from '../mcp/skills.ts'
import { safeText } from '../text/safe-text.ts'
import { designSteps } from './design-agent.ts'
import { goLiveSteps } from './go-live-checklist.ts'
import { causeSteps } from './investigate-call.ts'
import { reportSteps } from './weekly-usage-report.ts'

/*
 * Skills: the steps of prompts, for an assistant that has only the tools. A prompt names its
 * subject and attaches the data; a skill says how to find both.
 */

const buildVoiceAgent: Skill = {
  name: 'build-voice-agent',
  title: 'Build a voice agent',
  description:
    "Designs a voice agent from a brief, creates it, and takes it live on a phone number with a test call, each after the user's yes. Use it to build, set up or launch a voice agent (bot, assistant).",
  requires: 'create_agent',
  text: safeText`The brief is what the user has said about the agent: who talks to it, about what.

## Design

${designSteps.split('\n')}

## Launch

If the user has no number for the agent yet, show those of list_phone_numbers, with the agents that answer them, and ask which one to use.

${goLiveSteps('Call check_call_readiness with the agent, its number and the number of the test call. WRONG: stop, say what was found, and propose its fix. A warning: ask for a decision.').split('\n')}

Good: the user has agreed to every value, change and call; only what was seen to work is called ready.`,
}

const diagnoseFailedCalls: Skill = {
  name: 'diagnose-failed-calls',
  title: 'Diagnose failed calls',
  description:
    'Finds out why calls of voice agents fail or go wrong, shows the evidence, and proposes the smallest change that helps. Use it if calls fail, are not answered, end early or misunderstand the caller.',
  requires: 'get_call',
  text: safeText`## Find the calls

- One that the user names: go on with its cause.
- How many fail, and whether that is new: list_calls with review true, include_subaccounts true, and created_after if the user names a time.
- Failed ones: list_calls with status failed and limit 100; read all pages. Those that the person did not take (user_busy, user_rejected, user_unavailable): group them by to_number and hour; a number that never answers is to be checked, others are better called at another hour. Group the rest by agent_name and from_number, and find the cause of one or two of each group. Voicemail counts as completed: answer_status machine lists it.
- Calls that went wrong without failing: list_conversations with transcript end shows how each ended and the caller's last words. search finds what was said in all of them.
- An agent that reaches nobody: check_call_readiness with the agent, its number and a number that it called. It names what is wrong and the fix; if it finds nothing, the settings of today are not the cause.
- Callers who do not reach the agent: list_phone_numbers shows the agent that answers a number, and its trunk.

## Find the cause of a call

${causeSteps.split('\n')}`,
}

const reportUsage: Skill = {
  name: 'report-usage',
  title: 'Report usage',
  description:
    'Reports conversations, minutes and failed calls of a period against the one before, by agent and subaccount. Use it for a daily, weekly or monthly usage report.',
  requires: 'get_usage',
  text: safeText`## Read the figures

Unless the user says otherwise, the period is the last seven whole days, and the one before the seven days before that; "last week" is Monday to Sunday. Days begin at midnight of the user's time zone: ask if you do not know it. Give times with the zone's offset (2026-11-16T00:00:00+01:00), and the zone as tz.

- Totals of both periods, and what changed: get_usage with start, end, compare_start, tz, and group_by agent and subaccount.
- The days: get_usage with start, end and tz.
- Failed and transferred calls of both periods, by agent and account: list_calls with review true, created_after, created_before, tz and include_subaccounts true. It compares with the time before by itself.

## Report

${reportSteps.split('\n')}`,
}

/** Every skill, in the order of `skills/list`. */
export const skills = [buildVoiceAgent, diagnoseFailedCalls, reportUsage]
