import * as z from 'zod'
import type { CallSettings } from './call-settings.ts'
import type { Greeting } from './greeting.ts'

/** One line of a transcript, `at` simulated seconds after the call was answered. */
export const ScriptLine = z.object({
  at: z.number(),
  role: z.enum(['user', 'agent', 'system', 'tool', 'event']),
  message: z.string(),
})
export type ScriptLine = z.output<typeof ScriptLine>

/** What was said in a call, and how long it took, in simulated seconds. */
export interface Talk {
  script: ScriptLine[]
  seconds: number
  /** True when it ended at the longest duration. */
  wasCut: boolean
}

/** Seconds of speech for a line: about 15 characters a second, at least one second. */
const spoken = (text: string) => Math.max(1, Math.round(text.length / 15))

/** Silence between two turns, seconds. */
const turnGap = 1

/** Records a conversation and its time. */
export class Dialogue {
  readonly #script: ScriptLine[]
  readonly #settings: CallSettings
  #at = 0

  /** `before`: what was said already. */
  constructor(settings: CallSettings, before: readonly ScriptLine[] = []) {
    this.#settings = settings
    this.#script = [...before]
  }

  event(message: string): void {
    this.add('event', message)
  }

  say(role: 'user' | 'agent', message: string): void {
    this.#script.push({ at: this.#at, role, message })
    this.#at += spoken(message) + turnGap
  }

  /** A line that takes no time: nobody says it, or it is typed and read. */
  add(role: ScriptLine['role'], message: string): void {
    this.#script.push({ at: this.#at, role, message })
  }

  /** The agent's greeting after its delay, unless the caller speaks first. */
  open({ text, error }: Greeting, isInterrupting: boolean): void {
    const { mode, delay_ms, interruptible } = this.#settings.initial_message
    if (error !== null) this.event(`The greeting could not be rendered: ${error}`)
    if (mode === 'user_first' || text === '') return
    if (mode === 'dynamic_message') this.event('The message stands in for a generated greeting.')
    this.#at += delay_ms / 1000
    if (!isInterrupting) this.say('agent', text)
    else if (interruptible) this.#interrupted(text)
    else {
      this.say('agent', text)
      this.event('The caller talked over the greeting, which is not interruptible.')
    }
  }

  /** The caller speaks during a line of the agent; the settings say whether that stops it. */
  talkedOver(agent: string, caller: string): void {
    const { enabled, min_words, min_speech_seconds } = this.#settings.interrupt_settings
    const words = caller.split(/\s+/).filter(Boolean).length
    if (enabled && words >= min_words && spoken(caller) >= min_speech_seconds) {
      this.#interrupted(agent)
    } else {
      this.say('agent', agent)
      this.event('The caller talked over the agent, too briefly to interrupt it.')
    }
    this.say('user', caller)
  }

  #interrupted(text: string): void {
    const words = text.split(' ')
    const heard = words.slice(0, Math.ceil(words.length / 2)).join(' ')
    this.say('agent', `${heard} –`)
    this.event('The caller interrupted the agent.')
  }

  /** The caller is silent: reminders, then the end of the call, as the settings say. */
  silence(): void {
    const { reminder_timeout_ms, reminder_max_count, end_call_timeout_ms } =
      this.#settings.inactivity_settings
    const hangUp = this.#at + (end_call_timeout_ms ?? Number.POSITIVE_INFINITY) / 1000
    for (let reminder = 1; reminder <= reminder_max_count; reminder++) {
      const next = this.#at + (reminder_timeout_ms ?? Number.POSITIVE_INFINITY) / 1000
      if (next >= hangUp || next > this.#settings.max_duration_seconds) break
      this.#at = next
      this.say('agent', 'Are you still there?')
    }
    this.#at = Math.max(this.#at, hangUp)
    this.event('The caller was silent for too long: the agent hung up.')
  }

  /** Waits until a moment that has not passed: a language model may be slower than the clock. */
  notBefore(seconds: number): void {
    this.#at = Math.max(this.#at, seconds)
  }

  lines(): readonly ScriptLine[] {
    return this.#script
  }

  isOverlong(): boolean {
    return this.#at > this.#settings.max_duration_seconds
  }

  hangUp(): void {
    this.event(this.#settings.allow_auto_hangup ? 'The agent hung up.' : 'The caller hung up.')
  }

  /** The conversation, cut at the agent's longest duration. */
  end(): Talk {
    const longest = this.#settings.max_duration_seconds
    if (this.#at <= longest) return { script: this.#script, seconds: this.#at, wasCut: false }
    const kept = this.#script.filter(({ at }) => at < longest)
    const end: ScriptLine = { at: longest, role: 'event', message: 'The longest duration is over.' }
    return { script: [...kept, end], seconds: longest, wasCut: true }
  }
}
