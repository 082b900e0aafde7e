import * as z from 'zod'
import { type CallSettings, type Greeting, speaksGerman } from './agent-call-settings.ts'

/** One line of a transcript, `at` simulated seconds after the call was answered. */
export const ScriptLine = z.object({
  at: z.number(),
  role: z.enum(['user', 'agent', 'system', 'tool', 'event']),
  message: z.string(),
})
export type ScriptLine = z.output<typeof ScriptLine>

/** The transcript of a call and its duration, simulated seconds. */
export interface Talk {
  script: ScriptLine[]
  seconds: number
  /** True if the talk was cut off at the maximum duration. */
  wasCut: boolean
}

/** Seconds of speech for a line: about 15 characters a second, at least one second. */
const spoken = (text: string) => Math.max(1, Math.round(text.length / 15))

const turnGap = 1

/**
 * Builds a transcript. A clock, in simulated seconds, advances by the time that each line takes to
 * say.
 */
export class Dialogue {
  readonly #script: ScriptLine[]
  readonly #settings: CallSettings
  #at = 0

  /** `before`: lines of the conversation so far. */
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

  /** A line that takes no time: an event, or typed text. */
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

  /**
   * Barge-in: the caller speaks during a line of the agent, and the settings decide whether the
   * agent stops.
   */
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

  /** Lets the caller be silent: the agent reminds, then hangs up, after the times in its settings. */
  silence(): void {
    const { reminder_timeout_ms, reminder_max_count, end_call_timeout_ms } =
      this.#settings.inactivity_settings
    const hangUp = this.#at + (end_call_timeout_ms ?? Number.POSITIVE_INFINITY) / 1000
    for (let reminder = 1; reminder <= reminder_max_count; reminder++) {
      const next = this.#at + (reminder_timeout_ms ?? Number.POSITIVE_INFINITY) / 1000
      if (next >= hangUp || next > this.#settings.max_duration_seconds) break
      this.#at = next
      this.say('agent', phrasesOf(this.#settings).reminder)
    }
    this.#at = Math.max(this.#at, hangUp)
    this.event('The caller was silent for too long: the agent hung up.')
  }

  /** Advances the clock to a time, if it is behind: a language model takes real time to answer. */
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

  /** The conversation, cut at the agent's maximum duration. */
  end(): Talk {
    const longest = this.#settings.max_duration_seconds
    if (this.#at <= longest) return { script: this.#script, seconds: this.#at, wasCut: false }
    const kept = this.#script.filter(({ at }) => at < longest)
    const end: ScriptLine = {
      at: longest,
      role: 'event',
      message: 'The maximum duration was reached.',
    }
    return { script: [...kept, end], seconds: longest, wasCut: true }
  }
}

/** Lines of a scripted call in one language, for a sandbox without a language model. */
export interface Phrases {
  readonly smallTalk: readonly (readonly [caller: string, agent: string])[]
  readonly voicemail: string
  readonly purpose: string
  /** What the caller says to interrupt the agent's `purpose`. */
  readonly interruption: string
  readonly reminder: string
}

const english: Phrases = {
  smallTalk: [
    ['Hello, what is it about?', 'I am calling from the sandbox: this conversation is simulated.'],
    ['All right. Why do you call?', 'I only wanted to check that everything works.'],
    ['And does it?', 'It does. Thank you for your time.'],
    ['Good. Goodbye.', 'Goodbye.'],
  ],
  voicemail: 'You have reached my voicemail. Please leave a message after the tone.',
  purpose: 'I only wanted to check that everything works.',
  interruption: 'Sorry, wrong number!',
  reminder: 'Are you still there?',
}

/** Each line takes as long to say as its English counterpart. */
const german: Phrases = {
  smallTalk: [
    ['Hallo, worum geht es denn?', 'Ich rufe aus der Sandbox an: Dieses Gespräch ist simuliert.'],
    ['Gut. Warum rufen Sie an?', 'Ich wollte nur prüfen, ob alles funktioniert.'],
    ['Und tut es das?', 'Ja. Danke für Ihre Zeit.'],
    ['Gut. Tschüss.', 'Auf Wiederhören.'],
  ],
  voicemail: 'Hier ist meine Mailbox. Bitte hinterlassen Sie eine Nachricht nach dem Ton.',
  purpose: 'Ich wollte nur prüfen, ob alles funktioniert.',
  interruption: 'Oh, falsch verbunden!',
  reminder: 'Sind Sie noch da?',
}

export const phrasesOf = (settings: CallSettings) => (speaksGerman(settings) ? german : english)
