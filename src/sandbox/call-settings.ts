import * as z from 'zod'

/*
 * The fields of an agent's configuration that affect a simulated call. Overrides may have any values,
 * so each field that is not valid gets the platform's default.
 */

/** An object whose invalid fields get their defaults one by one; it may be absent. */
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
})
export type CallSettings = z.output<typeof CallSettings>

/** Reads the settings out of an agent's configuration, merged with a call's overrides. */
export const callSettings = (config: Readonly<Record<string, unknown>>): CallSettings =>
  CallSettings.parse(config)
