import * as z from 'zod'
import { voiceProviders } from '../contract/provider.ts'
import { routes } from '../contract/routes.ts'
import { dynamicPrefix, knownVariables } from '../contract/template.ts'
import { languageCodes } from '../mcp/completions.ts'
import type { PromptReader } from '../mcp/prompt.ts'
import { definePrompt } from '../mcp/prompt.ts'
import { safeText } from '../text/safe-text.ts'
import {
  attachedFrom,
  attachedList,
  modelItems,
  transcriberItems,
  voiceItems,
} from './attachments.ts'

export const designAgent = definePrompt({
  name: 'design_agent',
  title: 'Design an agent',
  description: 'Designs a voice agent from a brief and creates it once you agree.',
  arguments: {
    brief: {
      schema: z.string().max(6000).describe('What the agent is for: who talks to it, about what.'),
    },
    language: {
      schema: z.string().max(64).optional().describe('Language it speaks, such as de-de.'),
      completion: languageCodes,
    },
  },
  async prepare({ brief, language }, reader) {
    const [models, transcribers] = await Promise.all([
      reader.attempt(reader.cached(routes.providers.models, {}, 'catalog')),
      reader.attempt(reader.cached(routes.providers.transcribers, {}, 'catalog')),
    ])
    const heard = transcribers.ok ? transcriberItems(transcribers.value, language) : []
    return {
      text: task(brief, language),
      attachments: [
        attachedFrom(models, 'Language models', 'use list_models', (catalog) =>
          attachedList('Language models', 'voice-agents://catalog/models', modelItems(catalog), {
            budget: 1500,
            tool: 'list_models',
          }),
        ),
        attachedFrom(transcribers, 'Transcribers', 'use list_transcribers', () =>
          attachedList(
            language ? `Transcribers that take ${language}` : 'Transcribers',
            'voice-agents://catalog/transcribers',
            heard,
            { budget: 900, tool: 'list_transcribers' },
          ),
        ),
        ...(await voices(codeFor(language, heard), reader)),
      ],
    }
  },
})

/** The language code; for a name such as German, the code that a transcriber uses. */
function codeFor(
  language: string | undefined,
  heard: readonly Readonly<Record<string, unknown>>[],
) {
  if (language === undefined || /^[a-z]{2,3}([-_][a-z\d]+)*$/i.test(language)) return language
  const [first] = heard.flatMap(({ languages }) => (Array.isArray(languages) ? languages : []))
  return typeof first === 'string' ? first : language
}

/** Voices attached for each provider; list_voices shows the others. */
const voicesShown = 8

const voices = (language: string | undefined, reader: PromptReader) =>
  Promise.all(
    voiceProviders.map(async (provider) => {
      const query = { provider, ...(language && { language }), limit: voicesShown }
      const read = await reader.attempt(
        reader.cached(routes.providers.voices, { query }, 'catalog'),
      )
      const what = `Voices of ${provider}${language ? ` for ${language}` : ''}`
      return attachedFrom(read, what, 'use list_voices', (catalog) => {
        const items = voiceItems(catalog)
        return attachedList(what, `voice-agents://catalog/voices/${provider}`, items, {
          budget: 700,
          tool: 'list_voices',
          isPart: items.length >= voicesShown,
        })
      })
    }),
  )

const task = (
  brief: string,
  language: string | undefined,
) => safeText`Design a voice agent for this brief.

<brief>
${brief.split('\n')}
</brief>
${language ? `It speaks ${language}.` : 'Its language follows from the brief; ask if it does not.'}

1. If something is missing that changes the design, ask me once, at most three questions: who talks to it, in which language, how it opens, what ends the call, whether calls may be recorded.
2. Choose model, transcriber and voice from what is attached; use the ids exactly as they stand there. Prefer a quick model: callers notice a second. Transcriber and voice must take the same language; set transcriber.languages and voice.language. If no voice fits, look with list_voices.
3. Write the greeting (initial_message.message): one or two short sentences, spoken language, says who is calling or answering. Variables it may read: ${knownVariables.join(', ')}, and ${dynamicPrefix}…. Check it with validate_agent_template until it is valid and reads no unknown variable.
4. Set only what the brief gives a reason for; the platform's defaults are sound. Look at max_duration_seconds, inactivity_settings, interrupt_settings and capture_settings.recording_enabled.
5. The API has no field for a system prompt. If the brief needs instructions or knowledge beyond the greeting, write them out for me and say that they are entered outside this API.
6. Show me the whole configuration as a table of field, value and reason, with the extra cost per minute of the model. Create nothing before I agree.
7. Then create_agent once, and get_agent to compare. Report its id, every warning and every difference from what I agreed to. Place no call and link no number; offer go_live_checklist for that.

Good: a stranger could tell from the table why each value is there; every id is from a catalog; the greeting renders.`
