import * as z from 'zod'
import { withDefault } from './field.ts'

/** How a conversation begins [R]. */
const greetingModes = ['fixed_message', 'user_first', 'dynamic_message'] as const

/** Background sounds an agent can play [R]. */
const ambientSources = [
  'open_plan_office',
  'customer_service_center',
  'internet_cafe',
  'urban_street',
  'rural_outdoors',
  'ac_fan',
] as const

const ratio = (what: string, value: number) =>
  withDefault(z.number().min(0).max(1).describe(what), value)
const flag = (what: string, value: boolean) => withDefault(z.boolean().describe(what), value)
const delay = (least: number, most: number, what: string, value: number) =>
  withDefault(z.int().min(least).max(most).nullable().describe(what), value)

/**
 * The behaviour settings of an agent: optional objects of optional fields, the same on create and
 * update. Bounds and defaults are [B] unless marked otherwise. The platform fills in `meta.default`
 * on create, and nothing on update.
 */
export const behaviour = {
  allow_auto_hangup: z.boolean().nullish().describe('Agent may end the call.'),
  allow_caller_recording_opt_out: z.boolean().nullish().describe('Caller may decline recording.'),
  max_duration_seconds: withDefault(
    z.int().min(10).max(43200).nullable().describe('Longest conversation, seconds.'),
    1200,
  ),
  initial_message: z
    .object({
      message: withDefault(z.string().nullable().describe('Greeting; Jinja template.'), ''),
      mode: withDefault(z.enum(greetingModes).describe('Who opens.'), 'fixed_message'),
      delay_ms: withDefault(z.int().min(0).max(5000).describe('Wait before.'), 0), // [R]
      interruptible: flag('May be talked over.', false),
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
      reminder_max_count: withDefault(z.int().min(0).describe('Most reminders.'), 2),
      end_call_timeout_ms: delay(10000, 600000, 'Silence; null: never.', 305000), // [R]
      reset_on_activity: flag('Speech restarts the count.', true),
    })
    .nullish()
    .describe('What happens when the caller is silent.'),
  response_timing: z
    .object({
      min_endpointing_delay_seconds: withDefault(
        z.number().min(0).describe('Silence that ends a turn.'),
        0.1,
      ),
    })
    .nullish()
    .describe('When the agent answers.'),
  interrupt_settings: z
    .object({
      enabled: flag('Caller may interrupt.', true),
      min_words: withDefault(z.int().min(0).describe('Fewest that interrupt.'), 0),
      min_speech_seconds: withDefault(z.number().min(0).describe('Shortest that interrupts.'), 0.2),
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
