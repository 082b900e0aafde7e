import type { Agent } from '../contract/agent.ts'
import type { PhoneNumber } from '../contract/phone-number.ts'
import { routes } from '../contract/routes.ts'
import type { PromptReader } from '../mcp/prompt.ts'
import { type Attachment, definePrompt } from '../mcp/prompt.ts'
import { safeText } from '../text/safe-text.ts'
import { project } from '../tool/lists/list-view.ts'
import { agentArgument } from './arguments.ts'
import {
  attached,
  attachedFrom,
  attachedList,
  modelItems,
  outcomesOf,
  transcriberItems,
} from './attachments.ts'

/** Number of newest calls that are counted: one page. */
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
      catalogAttachments(agent, reader),
      useAttachments(agent, uri, reader),
    ])
    return {
      text: task(agent),
      attachments: [attached('The agent', uri, agent, 2500), ...greeting, ...catalogs, ...use],
    }
  },
})

/** The platform's check of the greeting; nothing if the agent has no greeting. */
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

/** The models and transcribers that the agent could use instead. */
async function catalogAttachments(agent: Agent, reader: PromptReader): Promise<Attachment[]> {
  const [models, transcribers] = await Promise.all([
    reader.attempt(reader.cached(routes.providers.models, {}, 'catalog')),
    reader.attempt(reader.cached(routes.providers.transcribers, {}, 'catalog')),
  ])
  return [
    attachedFrom(models, 'Language models', 'use list_models', (catalog) =>
      attachedList('Language models', 'voice-agents://catalog/models', modelItems(catalog), {
        budget: 1200,
        tool: 'list_models',
      }),
    ),
    attachedFrom(transcribers, 'Transcribers', 'use list_transcribers', (catalog) =>
      attachedList(
        'Transcribers for its language',
        'voice-agents://catalog/transcribers',
        transcriberItems(catalog, languageOf(agent)),
        { budget: 600, tool: 'list_transcribers' },
      ),
    ),
  ]
}

/** The numbers that the agent answers, and the outcomes of its calls. */
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

function languageOf({ voice, transcriber }: Agent): string | undefined {
  const languages = Array.isArray(transcriber?.languages) ? transcriber.languages : []
  const [language] = [voice?.language, transcriber?.language, ...languages].filter(Boolean)
  return typeof language === 'string' ? language : undefined
}

const answeredBy = ({ id }: Agent, numbers: readonly PhoneNumber[]) =>
  numbers
    .filter(({ inbound_agent }) => inbound_agent?.id === id)
    .map((number) => project(number, ['id', 'number', 'friendly_name', 'sip_trunk.name']))

const task = ({
  id,
  modified,
}: Agent) => safeText`Review the configuration of the voice agent ${id}.

1. Read what is attached. Look at each of these, and at nothing that is not in the configuration:
   - greeting: renders, reads no unknown variable, is short, says who speaks; mode and delay_ms suit it
   - model: still in the catalog, quick enough for speech (latency_rating), temperature and max_tokens within its settings
   - transcriber, voice and greeting: one language; the transcriber takes it
   - turn taking: interrupt_settings, response_timing, inactivity_settings; a caller who thinks is not cut off, silence ends at last
   - limits: max_duration_seconds, allow_auto_hangup
   - recording: capture_settings and allow_caller_recording_opt_out; ask what the law or policy here demands
   - outcomes of its calls: many machine, failed or very short ones point to a setting
   - name, note and tags: would a colleague know what it is for?
2. If a value in the catalogs matters that is not attached, look with list_models, list_transcribers or list_voices. If outcomes look bad, read one or two calls with list_calls and get_call.
3. Report a table: field, now, proposed, why, and how much it matters (must, should, could). Say plainly what is fine. No change without a reason from the configuration or the calls.
4. Ask me which changes to make. It may be answering calls now: changes take effect at once.
5. For those I chose: validate_agent_template if the greeting changes; update_agent with dry_run true${modified ? ` and expected_modified ${JSON.stringify(modified)}` : ''}; show me the changes; after my yes the same without dry_run. Report warnings and what differs.

Good: few findings, the important ones first, each with the field's name and the new value.`
