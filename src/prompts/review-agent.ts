import type { Agent } from '../contract/agent.ts'
import type { Call } from '../contract/call.ts'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import { type Attachment, definePrompt, type PromptReader } from '../mcp/prompt-definition.ts'
import { safeText } from '../text/safe-text.ts'
import { project } from '../tool/lists/list-result.ts'
import { agentArgument } from './arguments.ts'
import { attached, attachedFrom, attachedList, catalogAttachments, countBy } from './attachments.ts'

/** Number of newest calls that are counted, one page of the list. */
const callsCounted = 100

export const reviewAgent = definePrompt({
  name: 'review_agent',
  title: "Review an agent's configuration",
  description: 'Reviews how an agent is set up and proposes changes, each with its reason.',
  requires: routes.agents.get,
  arguments: { agent_id: agentArgument },
  async prepare({ agent_id }, reader) {
    const agent = await reader.requireAgent(agent_id)
    const uri = `voice-agents://agents/${encodeURIComponent(agent.id)}`
    const [greeting, catalogs, use] = await Promise.all([
      greetingAttachment(agent, uri, reader),
      // Models and transcribers as alternatives to the agent's own.
      catalogAttachments(
        reader,
        { models: 1200, transcribers: 600 },
        'Transcribers for its language',
        languageOf(agent),
      ),
      useAttachments(agent, uri, reader),
    ])
    return {
      text: task(agent),
      attachments: [
        attached('The agent', uri, agent, 2500),
        ...greeting,
        ...catalogs.attachments,
        ...use,
      ],
    }
  },
})

/** Attaches the platform's check of the greeting; nothing if the agent has none. */
async function greetingAttachment(
  { initial_message }: Agent,
  uri: string,
  reader: PromptReader,
): Promise<Attachment[]> {
  const template = initial_message?.message
  if (typeof template !== 'string' || template === '') return []
  const what = 'Check of its greeting'
  const read = await reader.attempt(reader.call(routes.templates.validate, { body: { template } }))
  return [
    attachedFrom(read, what, 'use validate_agent_template', (found) =>
      attached(what, `${uri}/greeting-check`, found, 500),
    ),
  ]
}

/** Attaches the phone numbers that the agent answers, and the outcomes of its calls. */
async function useAttachments(
  agent: Agent,
  uri: string,
  reader: PromptReader,
): Promise<Attachment[]> {
  const ofAgent = { agent_id: agent.id, limit: callsCounted }
  const [numbers, calls] = await Promise.all([
    reader.attempt(reader.call(routes.phoneNumbers.list, { query: { limit: 100 } })),
    reader.attempt(reader.call(routes.calls.list, { query: ofAgent })),
  ])
  return [
    attachedFrom(numbers, 'Numbers it answers', 'use list_phone_numbers', ({ items, count }) =>
      attachedList('Numbers it answers', `${uri}/phone-numbers`, answeredBy(agent, items), {
        budget: 600,
        tool: 'list_phone_numbers',
        isPart: items.length < (count ?? 0),
      }),
    ),
    attachedFrom(calls, 'Outcomes of its calls', 'use list_calls', ({ items, count }) =>
      attached(
        'Outcomes of its calls',
        `${uri}/call-outcomes`,
        { calls_in_all: count, counted: outcomesOf(items) },
        300,
      ),
    ),
  ]
}

/** Counts calls by outcome. */
function outcomesOf(calls: readonly Call[]) {
  const lengths = calls.flatMap(({ duration_seconds }) =>
    typeof duration_seconds === 'number' && duration_seconds > 0 ? [duration_seconds] : [],
  )
  const sum = lengths.reduce((total, seconds) => total + seconds, 0)
  return {
    calls: calls.length,
    status: countBy(calls, ({ status }) => status),
    answer_status: countBy(calls, ({ answer_status }) => answer_status),
    average_seconds: lengths.length > 0 ? Math.round(sum / lengths.length) : null,
  }
}

function languageOf({ voice, transcriber }: Agent): string | undefined {
  const given = [voice?.language, transcriber?.language, transcriber?.languages].flat()
  return given.filter((one) => typeof one === 'string').find(Boolean)
}

const answeredBy = ({ id }: Agent, numbers: readonly PhoneNumber[]) =>
  numbers
    .filter(({ inbound_agent }) => inbound_agent?.id === id)
    .map((number) => project(number, ['id', 'number', 'friendly_name', 'sip_trunk.name']))

const task = ({
  id,
  modified,
}: Agent) => safeText`Review the configuration of the voice agent ${id}.

1. Read the attachments. Review these parts, and leave out those that the configuration does not have:
   - greeting: it renders, reads no unknown variable, is short and says who speaks; mode and delay_ms suit it
   - model: still in the catalog, fast enough for speech (latency_rating), temperature and max_tokens within its settings
   - transcriber, voice and greeting: all in one language, which the transcriber supports
   - turn taking: interrupt_settings, response_timing, inactivity_settings; a caller who pauses to think is not cut off, and long silence ends the call
   - limits: max_duration_seconds, allow_auto_hangup
   - recording: capture_settings and allow_caller_recording_opt_out; ask which law or policy applies
   - outcomes of its calls: many calls that failed, were very short or reached a machine point to a setting
   - name, note and tags: they tell a colleague what the agent is for
2. If you need a catalog entry that is not attached, use list_models, list_transcribers or list_voices. If outcomes look bad, read one or two calls with list_calls and get_call.
3. Report a table: field, current value, proposed value, reason, priority (must, should, could). Say what is fine. Propose a change only for a reason found in the configuration or the calls.
4. Ask me which changes to make. They take effect at once, and the agent may be in calls now.
5. For the changes I choose: if the greeting changes, check it with validate_agent_template. Call update_agent with dry_run true${modified ? ` and expected_modified ${JSON.stringify(modified)}` : ''}, and show me the result. After my yes, call it again without dry_run. Report warnings, and what the platform saved differently.

Good: few findings, the important ones first, each with its field and new value.`
