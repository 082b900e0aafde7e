import * as z from 'zod'
import { type VoiceCatalog, voiceProviders, voicesIn } from '../contract/provider.ts'
import { routes } from '../contract/routes.ts'
import { dynamicPrefix, knownVariables } from '../contract/template.ts'
import { languageCodes } from '../mcp/completions.ts'
import { definePrompt, type PromptReader } from '../mcp/prompt-definition.ts'
import { safeText } from '../text/safe-text.ts'
import type { Fields } from '../tool/field-changes.ts'
import { project } from '../tool/lists/list-result.ts'
import { attachedFrom, attachedList, catalogAttachments } from './attachments.ts'

/** Steps from a brief to a saved agent. Shared by the prompt and a skill. */
export const designSteps = safeText`1. If the design depends on something that the brief leaves open, ask the user once, with at most three questions: who talks to the agent, in which language, how it opens, what ends the call, whether calls may be recorded.
2. Choose model, transcriber and voice from list_models, list_transcribers and list_voices (with language), and copy their ids exactly. Prefer a fast model, unless the brief names one: callers notice a delay of one second. Transcriber and voice must support the same language: set transcriber.languages and voice.language.
3. Write the greeting (initial_message.message): one or two short sentences of everyday speech that say who is calling or answering. It may read these variables: ${knownVariables.join(', ')}, and ${dynamicPrefix}…. Correct it until validate_agent_template finds it valid, without unknown variables; what may be empty needs a default.
4. Set only fields that the brief gives a reason for; the platform's defaults are sound. Consider max_duration_seconds, allow_auto_hangup (whether the agent may end the call), ambient_sound (office noise by default), inactivity_settings, interrupt_settings and capture_settings.recording_enabled.
5. The API has no field for a system prompt. If the brief needs instructions or knowledge beyond the greeting, write them out for the user and say that they are entered outside this API.
6. Show the user the whole configuration as a table of field, value and reason, with the model's extra cost per minute. Create nothing before they agree.
7. After their yes, call create_agent once. Report its id, every warning and every difference from what they agreed to.`

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
    const what = language ? `Transcribers that support ${language}` : 'Transcribers'
    const budgets = { models: 1500, transcribers: 900 }
    const { heard, attachments } = await catalogAttachments(reader, budgets, what, language)
    return {
      text: task(brief, language),
      attachments: [...attachments, ...(await voices(codeFor(language, heard), reader))],
    }
  },
})

/** A language as the code that a transcriber uses. A name, such as German, is looked up. */
function codeFor(
  language: string | undefined,
  heard: readonly Readonly<Record<string, unknown>>[],
) {
  if (language === undefined || /^[a-z]{2,3}([-_][a-z\d]+)*$/i.test(language)) return language
  const [first] = heard.flatMap(({ languages }) => (Array.isArray(languages) ? languages : []))
  return typeof first === 'string' ? first : language
}

/** Number of voices attached per provider. list_voices shows the rest. */
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

/**
 * The fields of each voice that help to choose one. Omits all other fields, which are the vendor's
 * data.
 */
const voiceItems = (catalog: VoiceCatalog) =>
  (voicesIn(catalog)?.voices ?? [])
    .filter((voice): voice is Fields => typeof voice === 'object' && voice !== null)
    .map((voice) => project(voice, ['id', 'voice_id', 'name', 'language', 'gender', 'description']))

const task = (
  brief: string,
  language: string | undefined,
) => safeText`Design a voice agent for this brief.

<brief>
${brief.split('\n')}
</brief>
${language ? `It speaks ${language}.` : 'Take its language from the brief; if the brief names none, ask.'}

${designSteps.split('\n')}
8. Place no call and link no number; offer go_live_checklist for that.

Good: the table explains every value to a newcomer; every id is from a catalog; the greeting renders.`
