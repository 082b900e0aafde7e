import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import type { Formats } from '../shared/formats.ts'

/** Titles of setting groups, by first path segment, in the card's order. */
export const groups: Readonly<Record<string, string>> = {
  initial_message: 'Greeting',
  model: 'Language model',
  transcriber: 'Speech recognition',
  voice: 'Voice',
  response_timing: 'Turn taking',
  interrupt_settings: 'Interruptions',
  inactivity_settings: 'Silence of the caller',
  ambient_sound: 'Background sound',
  volume: 'Volume',
  denoising: 'Noise suppression',
  capture_settings: 'Recording',
  metadata: 'Metadata',
}

/** Labels for fields whose own name is unclear. */
const names: Readonly<Record<string, string>> = {
  'initial_message.message': 'Text',
  'initial_message.mode': 'Who opens',
  'initial_message.delay_ms': 'Wait before',
  'initial_message.interruptible': 'May be talked over',
  'model.max_tokens': 'Longest answer in tokens',
  'voice.voice_id': 'Voice id',
  'response_timing.min_endpointing_delay_seconds': 'Silence that ends a turn',
  'interrupt_settings.enabled': 'Caller may interrupt',
  'interrupt_settings.min_words': 'Fewest words',
  'interrupt_settings.min_speech_seconds': 'Shortest speech',
  'inactivity_settings.reminder_timeout_ms': 'Reminder after',
  'inactivity_settings.reminder_max_count': 'Most reminders',
  'inactivity_settings.end_call_timeout_ms': 'Call ends after',
  'inactivity_settings.reset_on_activity': 'Speech restarts the count',
  'volume.allow_adjustment': 'Agent may adjust it',
  'denoising.web': 'On web calls',
  'denoising.telephony': 'On phone calls',
  'volume.web': 'On web calls',
  'volume.telephony': 'On phone calls',
  'capture_settings.recording_enabled': 'Calls are recorded',
  allow_auto_hangup: 'Agent may end the call',
  allow_caller_recording_opt_out: 'Caller may decline recording',
  max_duration_seconds: 'Longest conversation',
  is_archived: 'Archived',
}

/** Label of a field within its group. */
export function labelOf(path: string): string {
  const known = Object.hasOwn(names, path) ? names[path] : undefined
  if (known) return known
  const [first = '', ...rest] = path.split('.')
  const name = rest.length > 0 ? rest.join('.') : first
  // Names in free data are the user's own.
  if (first === 'metadata') return plainText(name)
  const words = plainText(
    name
      .replaceAll('.', ': ')
      .replace(/_(ms|seconds)$/, '')
      .replaceAll('_', ' '),
  )
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Label of a field including its group, for use outside the group. */
export function fullLabelOf(path: string): string {
  const [first = ''] = path.split('.')
  const group = Object.hasOwn(groups, first) ? groups[first] : undefined
  if (group === undefined || path === first) return group ?? labelOf(path)
  return `${group}: ${labelOf(path)}`
}

/** Maximum length of a shown value, characters. */
const longestValue = 5000

/** A value in readable form. */
export function valueText(path: string, value: unknown, formats: Formats): string {
  if (value === undefined) return path === 'is_archived' ? 'unknown' : 'none'
  if (value === null) return 'not set'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return numberText(path, value, formats)
  if (typeof value === 'string') return value === '' ? 'empty' : linesOf(value)
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null))
    return value.length > 0 ? linesOf(value.join(', ')) : 'none'
  const json = JSON.stringify(value)
  return linesOf(json.length > 80 ? JSON.stringify(value, null, 2) : json)
}

function numberText(path: string, value: number, { exact, length }: Formats): string {
  if (path === 'max_duration_seconds' && value >= 60) return length(value)
  if (path.endsWith('_ms')) return `${exact(value / 1000)} s`
  return path.endsWith('_seconds') ? `${exact(value)} s` : exact(value)
}

/** Keeps the line breaks of a text, and removes characters that hide or forge others. */
export function linesOf(text: string): string {
  const start = firstCharacters(text, longestValue)
  const lines = start.split(/\r\n|[\r\n\u2028\u2029]/)
  const left = text.length - start.length
  const more = left > 0 ? `\n… and ${left} more characters` : ''
  return `${lines.map((line) => plainText(line)).join('\n')}${more}`
}
