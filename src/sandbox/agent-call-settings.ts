import * as z from 'zod'
import { withTestVariables } from '../contract/template.ts'
import { render, TemplateError } from '../jinja/index.ts'

/*
 * Configuration fields that affect a simulated call. Overrides may hold any values, so every
 * invalid field falls back to the platform's default.
 */

/** An optional object whose invalid fields fall back to their defaults one by one. */
function group<Shape extends z.ZodRawShape>(shape: Shape) {
  const fields = z.object(shape)
  return fields.catch(() => fields.parse({}))
}

const timeout = (otherwise: number) => z.number().min(1000).max(600_000).nullable().catch(otherwise)

const CallSettings = z.object({
  max_duration_seconds: z.number().min(0).max(43_200).catch(1200),
  allow_auto_hangup: z.boolean().catch(false),
  initial_message: group({
    message: z.string().catch(''),
    mode: z.enum(['fixed_message', 'user_first', 'dynamic_message']).catch('fixed_message'),
    delay_ms: z.number().min(0).max(5000).catch(0),
    interruptible: z.boolean().catch(false),
  }),
  inactivity_settings: group({
    reminder_timeout_ms: timeout(10_000),
    reminder_max_count: z.number().catch(2),
    end_call_timeout_ms: timeout(305_000),
  }),
  interrupt_settings: group({
    enabled: z.boolean().catch(true),
    min_words: z.number().catch(0),
    min_speech_seconds: z.number().catch(0.2),
  }),
  capture_settings: group({ recording_enabled: z.boolean().catch(true) }),
  voice: group({ language: z.string().catch('') }),
  transcriber: group({ language: z.string().catch(''), languages: z.array(z.string()).catch([]) }),
})
export type CallSettings = z.output<typeof CallSettings>

/** Reads the settings from an agent's configuration merged with a call's overrides. */
export const callSettings = (config: Readonly<Record<string, unknown>>): CallSettings =>
  CallSettings.parse(config)

/** True if the agent speaks German, by its voice, or else by its transcriber's language. */
export function speaksGerman({ voice, transcriber }: CallSettings): boolean {
  const [only = '', ...others] = transcriber.languages
  const understood = transcriber.language || (others.length === 0 ? only : '')
  return /^de(?![a-z])/i.test(voice.language || understood)
}

/**
 * Limits for parsing and checking one template. The sandbox shares its process with other requests,
 * so it allows a quarter of the engine's own limits: about 0.1 s and 20 MB on a slow machine. A 100
 * kB prompt with a variable and a condition on every line takes 80,000 steps.
 */
export const templateLimits = { maxSteps: 500_000, maxLength: 1_048_576 } as const

/** Values for the variables of a greeting, and `test_variables`, which override them. */
interface GreetingFacts {
  agentId: string
  agentNumber: string | null
  contactNumber: string | null
  direction: string
  medium: string
  now: number
  testVariables: Readonly<Record<string, unknown>>
}

/** The rendered greeting; empty if the caller speaks first. */
export interface Greeting {
  text: string
  /** Rendering error; null if rendered. */
  error: string | null
}

export function renderGreeting(
  { message, mode }: CallSettings['initial_message'],
  facts: GreetingFacts,
): Greeting {
  if (mode === 'user_first') return { text: '', error: null }
  try {
    const text = render(message, variablesOf(facts), { analysis: templateLimits })
    return { text, error: null }
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error
    const where = error.line === null ? '' : ` (line ${error.line})`
    return { text: '', error: `${error.message}${where}` }
  }
}

/** The platform's variables, overridden by test_variables. */
function variablesOf(facts: GreetingFacts): Readonly<Record<string, unknown>> {
  const variables = {
    contact: {
      first_name: 'Sam',
      last_name: 'Sandbox',
      full_name: 'Sam Sandbox',
      email: 'sam@sandbox.example',
      phone_number: facts.contactNumber,
    },
    current_datetime: new Date(facts.now).toISOString(),
    timezone: 'UTC',
    direction: facts.direction,
    medium: facts.medium,
    agent_uuid: facts.agentId,
    agent_number: facts.agentNumber,
    contact_number: facts.contactNumber,
  }
  return withTestVariables(variables, facts.testVariables)
}

/** The default model, transcriber and voice of an agent. */
export const defaultSpeech = (language: string, voiceId: string) => ({
  model: { provider: 'openai', model: 'gpt-4.1', temperature: 0.7, max_tokens: 512 },
  transcriber: { provider: 'deepgram', model: 'nova-2:general', languages: [language] },
  voice: { provider: 'elevenlabs', voice_id: voiceId, language },
})
