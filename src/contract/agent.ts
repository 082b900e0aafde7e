import * as z from 'zod'
import { behaviour } from './agent-settings.ts'
import { accountParams, id, instant, timestamps } from './field.ts'
import { pageOf, pageQuery } from './page.ts'
import { route } from './route.ts'

/*
 * Provider objects. The catalogs decide which providers exist, so any provider code is accepted
 * and unknown fields are kept (loose). Field lists are [B], known codes [R].
 */
const provider = z.string().min(1)

const model = {
  provider: provider.describe('Code from list_models.'),
  model: z.string().describe('Id from list_models.'),
  max_tokens: z.int().nullish().describe('Longest answer, tokens.'),
  temperature: z.number().nullish().describe('Randomness; range per model.'),
}
const transcriber = {
  provider: provider.describe('Code from list_transcribers.'),
  model: z.string().optional().describe('Id from list_transcribers.'),
  languages: z.array(z.string()).optional().describe('Codes; [] detects.'),
  language: z.string().optional().describe('Where a provider takes one only.'),
  keywords: z.array(z.string()).optional().describe('Words to listen for.'),
}
const voice = {
  provider: provider.describe('Such as azure, cartesia, elevenlabs.'),
  voice_id: z.string().describe('Id from list_voices.'),
  language: z.string().nullish().describe('Language code.'),
  settings: z
    .looseObject({
      similarity_boost: z.number().optional().describe('Closeness to the original voice.'),
      stability: z.number().optional().describe('Evenness of delivery.'),
      speed: z.number().optional().describe('Pace; 1 is normal.'),
      style: z.number().optional().describe('Exaggeration of style.'),
      use_speaker_boost: z.boolean().optional().describe('Boost likeness.'),
    })
    .nullish()
    .describe('Tuning, for providers that take it.'),
}

const Model = z.looseObject(model).describe('Language model.')
const Transcriber = z.looseObject(transcriber).describe('Speech to text.')
const Voice = z.looseObject(voice).describe('Text to speech.')

/**
 * Fields of an agent that may be left out on create and changed on update. On create null means the
 * default, on update it resets or clears [R]; the same for all behaviour settings.
 */
const describing = {
  name: z.string().max(50).nullable().optional().describe('Display name.'),
  note: z.string().max(5000).nullable().optional().describe('Note for people.'),
  tags: z.array(z.string()).nullish().describe('Labels to filter by.'),
  metadata: z.record(z.string(), z.unknown()).nullish().describe('Free data.'),
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
 * Body of PATCH agents: an absent field is unchanged, `null` clears it where null is allowed, and
 * model, transcriber and voice take partial objects that are merged into what is stored [R].
 */
export const AgentUpdate = z.object({
  ...describing,
  tags: describing.tags.describe('Replaces the whole list.'),
  model: z.looseObject(model).partial().optional().describe('Language model; merged.'),
  transcriber: z.looseObject(transcriber).partial().optional().describe('Speech to text; merged.'),
  voice: z.looseObject(voice).partial().optional().describe('Text to speech; merged.'),
  ...behaviour,
  // How an archived agent is brought back is not published [S].
  is_archived: z
    .boolean()
    .refine((isArchived) => !isArchived, { error: 'Expected false; archive_agent archives' })
    .optional()
    .describe('false brings it back.'),
})
export type AgentUpdate = z.output<typeof AgentUpdate>

const settings = (what: string) => z.looseObject({}).nullish().describe(what)

/**
 * An agent as the platform returns it, without the bounds of requests: a stored agent may be older
 * than a bound, and max_duration_seconds is documented with two bounds [B].
 */
export const Agent = z.looseObject({
  id: z.string().describe('Agent id.'),
  account_id: z.string().nullish().describe('Account that owns it.'),
  name: z.string().nullish().describe('Display name.'),
  note: z.string().nullish().describe('Note for people.'),
  tags: z.array(z.string()).nullish().describe('Labels.'),
  metadata: settings('Free data.'),
  model: settings('Language model: provider, model, max_tokens, temperature.'),
  transcriber: settings('Speech to text: provider, model, languages, keywords.'),
  voice: settings('Text to speech: provider, voice_id, language, settings.'),
  allow_auto_hangup: z.boolean().nullish().describe('Agent may end the call.'),
  allow_caller_recording_opt_out: z.boolean().nullish().describe('Caller may decline recording.'),
  max_duration_seconds: z.number().nullish().describe('Longest conversation, seconds.'),
  initial_message: settings('How the agent opens: message, mode, delay_ms, interruptible.'),
  ambient_sound: settings('Background sound: source, volume.'),
  inactivity_settings: settings('What happens when the caller is silent.'),
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

/** Filters of the agent list [R]. Archived agents are left out unless asked for. */
const agentFilters = {
  name: z.string().optional().describe('Part of the name, any case.'),
  tags: z.array(z.string()).optional().describe('All of these must match.'),
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
