import * as z from 'zod'
import { accountParams, id, instant, pageOf, pageQuery, timestamps, withDefault } from './field.ts'
import { route } from './route.ts'

/** How a conversation begins [R]. */
const greetingModes = ['fixed_message', 'user_first', 'dynamic_message'] as const

/** Background sounds that an agent can play [R]. */
const ambientSources = [
  'open_plan_office',
  'customer_service_center',
  'internet_cafe',
  'urban_street',
  'rural_outdoors',
  'ac_fan',
] as const

/** A setting for which null means its default value [R]. */
const setting = <T extends z.ZodType>(schema: T, value: z.output<T>) =>
  schema.optional().nullable().meta({ default: value })
const ratio = (what: string, value: number) =>
  setting(z.number().min(0).max(1).describe(what), value)
const flag = (what: string, value: boolean) => setting(z.boolean().describe(what), value)
/** A delay in ms. Null means 'never', not the default. */
const delay = (min: number, max: number, what: string, value: number) =>
  withDefault(z.int().min(min).max(max).nullable().describe(what), value)

/**
 * Settings of an agent's behaviour: optional objects of optional fields, the same on create and
 * update. Bounds and defaults are [B] unless marked otherwise. The defaults in `meta.default` apply
 * on create only; an update leaves absent fields unchanged.
 */
const behaviour = {
  allow_auto_hangup: z.boolean().nullish().describe('Agent may end the call.'),
  allow_caller_recording_opt_out: z.boolean().nullish().describe('Caller may decline recording.'),
  max_duration_seconds: withDefault(
    z.int().min(10).max(43200).nullable().describe('Maximum conversation length, seconds.'),
    1200,
  ),
  initial_message: z
    .object({
      message: withDefault(z.string().nullable().describe('Greeting; Jinja template.'), ''),
      mode: setting(
        z
          .enum(greetingModes)
          .describe('user_first: the caller opens; dynamic_message: the model writes.'),
        'fixed_message',
      ),
      delay_ms: setting(z.int().min(0).max(5000).describe('Pause before speaking.'), 0), // [R]
      interruptible: flag('Caller may interrupt it.', false),
    })
    .nullish()
    .describe('How the agent opens.'),
  ambient_sound: z
    .object({
      source: withDefault(
        z.enum(ambientSources).nullable().describe('null: none.'),
        ambientSources[0],
      ),
      volume: ratio('0 to 1.', 0.5),
    })
    .nullish()
    .describe('Background sound.'),
  inactivity_settings: z
    .object({
      reminder_timeout_ms: delay(5000, 300000, 'Silence; null: never.', 10000), // [R]
      reminder_max_count: setting(z.int().min(0).describe('Maximum reminders.'), 2),
      end_call_timeout_ms: delay(10000, 600000, 'Silence; null: never.', 305000), // [R]
      reset_on_activity: flag('Speech restarts the count.', true),
    })
    .nullish()
    .describe('Silence of the caller.'),
  response_timing: z
    .object({
      min_endpointing_delay_seconds: setting(
        z.number().min(0).describe('Silence that ends a turn.'),
        0.1,
      ),
    })
    .nullish()
    .describe('When the agent answers.'),
  interrupt_settings: z
    .object({
      enabled: flag('Caller may interrupt.', true),
      min_words: setting(z.int().min(0).describe('Minimum to interrupt.'), 0),
      min_speech_seconds: setting(z.number().min(0).describe('Minimum to interrupt.'), 0.2),
    })
    .nullish()
    .describe('Barge-in.'),
  capture_settings: z
    .object({ recording_enabled: flag('Record audio.', true) })
    .nullish()
    .describe('Recording.'),
  volume: z
    .object({
      web: ratio('0 to 1.', 0.5),
      telephony: ratio('0 to 1.', 0.5),
      allow_adjustment: flag('Agent may adjust it.', true),
    })
    .nullish()
    .describe('Output volume.'),
  denoising: z
    .object({ web: flag('On web calls.', true), telephony: flag('On phone calls.', true) })
    .nullish()
    .describe('Noise suppression.'),
}

/*
 * Provider objects. The catalogs decide which providers exist, so any provider code is accepted,
 * and unknown fields are kept (loose objects). The fields are [B], the known codes [R].
 */
const provider = z.string().min(1)

const model = {
  provider: provider.describe('Code from list_models.'),
  model: z.string().describe('Id from list_models.'),
  max_tokens: z.int().nullish().describe('Maximum answer, tokens.'),
  temperature: z.number().nullish().describe('Randomness; range per model.'),
}
const transcriber = {
  provider: provider.describe('Code from list_transcribers.'),
  model: z.string().nullish().describe('Id from list_transcribers.'),
  languages: z.array(z.string()).optional().describe('Language codes; [] detects the language.'),
  language: z.string().nullish().describe('One code, if the provider does not take languages.'),
  keywords: z.array(z.string()).nullish().describe('Words to listen for.'),
}
const voice = {
  provider: provider.describe('Such as azure, cartesia, elevenlabs.'),
  voice_id: z.string().describe('Id from list_voices.'),
  language: z.string().nullish().describe('Language code.'),
  settings: z
    .looseObject({
      similarity_boost: z.number().nullish().describe('Closeness to the original voice.'),
      stability: z.number().nullish().describe('Evenness of delivery.'),
      speed: z.number().nullish().describe('Pace; 1 is normal.'),
      style: z.number().nullish().describe('Exaggeration of style.'),
      use_speaker_boost: z.boolean().nullish().describe('Boost likeness.'),
    })
    .nullish()
    .describe('Tuning, if supported.'),
}

const Model = z.looseObject(model).describe('Language model.')
const Transcriber = z.looseObject(transcriber).describe('Speech to text.')
const Voice = z.looseObject(voice).describe('Text to speech.')

/**
 * Fields of an agent that are optional on create and update. On create, null means the default [S].
 * On update, null clears the field [R] or resets it to its default [S]. The same applies to all
 * behaviour settings.
 */
const describing = {
  name: z.string().max(50).nullish().describe('Display name.'),
  note: z.string().max(5000).nullish().describe('Note for people.'),
  tags: z.array(z.string()).nullish().describe('Labels to filter by.'),
  metadata: z.record(z.string(), z.unknown()).nullish().describe('Your own data.'),
}

/** Body of POST agents: model, transcriber and voice are required [R]. */
export const AgentCreate = z.object({
  ...describing,
  model: Model,
  transcriber: Transcriber,
  voice: Voice,
  ...behaviour,
})
export type AgentCreate = z.output<typeof AgentCreate>

/**
 * Body of PATCH agents. An absent field stays unchanged. `null` clears a field that allows null.
 * Model, transcriber and voice take partial objects, which the platform merges into the stored ones
 * [R].
 */
export const AgentUpdate = z.object({
  ...describing,
  tags: describing.tags.describe('Replaces the whole list.'),
  model: z.looseObject(model).partial().optional().describe('Language model; merged.'),
  transcriber: z.looseObject(transcriber).partial().optional().describe('Speech to text; merged.'),
  voice: z.looseObject(voice).partial().optional().describe('Text to speech; merged.'),
  ...behaviour,
  // The platform does not publish how an archived agent is restored [S].
  is_archived: z
    .boolean()
    .refine((isArchived) => !isArchived, { error: 'Expected false; archive_agent archives' })
    .optional()
    .describe('false restores an archived agent.'),
})
export type AgentUpdate = z.output<typeof AgentUpdate>

const settings = (what: string) => z.looseObject({}).nullish().describe(what)

/**
 * An agent as the platform returns it. The bounds of requests do not apply: a stored agent may be
 * older than a bound, and max_duration_seconds is documented with two different bounds [B].
 */
export const Agent = z.looseObject({
  id: z.string().describe('Agent id.'),
  account_id: z.string().nullish().describe('Owning account.'),
  name: z.string().nullish().describe('Display name.'),
  note: z.string().nullish().describe('Note for people.'),
  tags: z.array(z.string()).nullish().describe('Labels.'),
  metadata: settings('Your own data.'),
  model: settings('Language model: provider, model, max_tokens, temperature.'),
  transcriber: settings('Speech to text: provider, model, languages, keywords.'),
  voice: settings('Text to speech: provider, voice_id, language, settings.'),
  allow_auto_hangup: z.boolean().nullish().describe('Agent may end the call.'),
  allow_caller_recording_opt_out: z.boolean().nullish().describe('Caller may decline recording.'),
  max_duration_seconds: z.number().nullish().describe('Maximum conversation length, seconds.'),
  initial_message: settings('How the agent opens: message, mode, delay_ms, interruptible.'),
  ambient_sound: settings('Background sound: source, volume.'),
  inactivity_settings: settings('Silence of the caller.'),
  response_timing: settings('When the agent answers.'),
  interrupt_settings: settings('Barge-in.'),
  capture_settings: settings('Recording.'),
  volume: settings('Output volume.'),
  denoising: settings('Noise suppression.'),
  is_archived: z.boolean().nullish().describe('True when archived.'),
  ...timestamps,
})
export type Agent = z.output<typeof Agent>

const agentParams = { ...accountParams, agent_id: id('Agent id.') }

/** Filters of the list of agents [R]. The list has archived agents only on request. */
const agentFilters = {
  name: z.string().optional().describe('Part of the name, any case.'),
  tags: z.array(z.string()).optional().describe('All must match.'),
  is_archived: z.boolean().optional().describe('true: only archived ones.'),
  include_archived: z.boolean().optional().describe('true: archived ones too.'),
  created_gt: instant('Created after.').optional(),
  created_ge: instant('Created at or after.').optional(),
  created_lt: instant('Created before.').optional(),
  created_le: instant('Created at or before.').optional(),
  modified_gt: instant('Changed after.').optional(),
  modified_ge: instant('Changed at or after.').optional(),
  modified_lt: instant('Changed before.').optional(),
  modified_le: instant('Changed at or before.').optional(),
}

export const agentRoutes = {
  create: route({
    id: 'agents.create',
    method: 'POST',
    path: '/v1/accounts/{account_id}/agents',
    summary: 'Create an agent.',
    params: accountParams,
    body: AgentCreate,
    reply: Agent,
    success: 201,
    effect: 'writes',
  }),
  list: route({
    id: 'agents.list',
    method: 'GET',
    path: '/v1/accounts/{account_id}/agents',
    summary: 'Agents of an account.',
    params: accountParams,
    query: { ...agentFilters, ...pageQuery },
    reply: pageOf(Agent),
    effect: 'reads',
  }),
  get: route({
    id: 'agents.get',
    method: 'GET',
    path: '/v1/accounts/{account_id}/agents/{agent_id}',
    summary: 'One agent.',
    params: agentParams,
    reply: Agent,
    effect: 'reads',
  }),
  update: route({
    id: 'agents.update',
    method: 'PATCH',
    path: '/v1/accounts/{account_id}/agents/{agent_id}',
    summary: 'Change parts of an agent.',
    params: agentParams,
    body: AgentUpdate,
    reply: Agent,
    effect: 'writes',
  }),
  archive: route({
    id: 'agents.archive',
    method: 'DELETE',
    path: '/v1/accounts/{account_id}/agents/{agent_id}',
    summary: 'Archive an agent (soft delete).',
    params: agentParams,
    success: 204,
    effect: 'destroys',
  }),
}
