import { capitalised, uncapitalised } from '../../../text/labels.ts'
import { firstCharacters, plainText } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { modelName, providerName, voiceName } from '../shared/display-names.ts'
import { type Content, h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { withSoftHyphens } from '../shared/typography.ts'

/* The label and the value of an agent's field, as text and as elements. */

/** Titles of setting groups, by first path segment, in the card's order. */
export const groups: Readonly<Record<string, string>> = {
  initial_message: 'Greeting',
  model: 'Language model',
  transcriber: 'Speech recognition',
  voice: 'Voice',
  response_timing: 'Turn taking',
  interrupt_settings: 'Interruptions',
  inactivity_settings: 'Silent caller',
  ambient_sound: 'Background sound',
  volume: 'Volume',
  denoising: 'Noise suppression',
  capture_settings: 'Recording',
  metadata: 'Metadata',
}

/** Labels for fields whose own name is unclear. */
const names: Readonly<Record<string, string>> = {
  'initial_message.message': 'Text',
  'initial_message.mode': 'First to speak',
  'initial_message.delay_ms': 'Pause before',
  'initial_message.interruptible': 'Can be interrupted',
  'model.max_tokens': 'Longest answer (tokens)',
  'voice.voice_id': 'Voice',
  'response_timing.min_endpointing_delay_seconds': 'Silence that ends a turn',
  'interrupt_settings.enabled': 'By the caller',
  'interrupt_settings.min_words': 'Words needed',
  'interrupt_settings.min_speech_seconds': 'Speech needed',
  'inactivity_settings.reminder_timeout_ms': 'Reminder after',
  'inactivity_settings.reminder_max_count': 'Reminders at most',
  'inactivity_settings.end_call_timeout_ms': 'Call ends after',
  'inactivity_settings.reset_on_activity': 'Count restarts with speech',
  'ambient_sound.source': 'Background sound',
  'volume.allow_adjustment': 'Adjusted by the agent',
  'denoising.web': 'Web calls',
  'denoising.telephony': 'Phone calls',
  'volume.web': 'Web calls',
  'volume.telephony': 'Phone calls',
  'capture_settings.recording_enabled': 'Recording',
  allow_auto_hangup: 'Agent can hang up',
  allow_caller_recording_opt_out: 'Caller can decline recording',
  max_duration_seconds: 'Longest conversation',
  is_archived: 'Archived',
}

/** Label of a field within its group. */
export function labelOf(path: string): string {
  const known = valueIn(names, path)
  if (known) return known
  const [first = '', ...rest] = path.split('.')
  const name = rest.length > 0 ? rest.join('.') : first
  // Users choose the names of metadata, so these are shown unchanged.
  if (first === 'metadata') return plainText(name)
  return capitalised(
    plainText(
      name
        .replace(/^settings\./, '')
        .replaceAll('.', ': ')
        .replace(/_(ms|seconds)$/, '')
        .replaceAll('_', ' '),
    ),
  )
}

/** Label of a field including its group, for use outside the group. */
export function fullLabelOf(path: string): string {
  const [first = ''] = path.split('.')
  const group = valueIn(groups, first) ?? labelOf(first)
  if (path === first) return group
  const label = labelOf(path)
  if (path === 'initial_message.message' || label === group) return group
  return `${group}: ${first === 'metadata' ? label : uncapitalised(label)}`
}

/** Maximum word length, characters, with which a label fits beside its value on a phone. */
const longestWord = 18

/** A label that can break after a dot or an underscore, as names of metadata have them. */
export function labelNodes(label: string): HTMLElement {
  const parts = label.split(/(?<=[._])(?=.)/)
  const isLong = parts.some((part) => part.split(' ').some(({ length }) => length > longestWord))
  const nodes = parts.flatMap((part, at) => {
    const text = withSoftHyphens(part)
    return at > 0 ? [h('wbr'), text] : [text]
  })
  return h('span', { class: isLong && 'long' }, nodes)
}

const valueIn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** Display texts of codes, by path of the field. */
const codes: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'initial_message.mode': {
    fixed_message: 'The agent, with the greeting',
    user_first: 'The caller',
    dynamic_message: 'The agent, in its own words',
  },
  'ambient_sound.source': {
    open_plan_office: 'Open-plan office',
    customer_service_center: 'Customer service center',
    internet_cafe: 'Internet café',
    urban_street: 'City street',
    rural_outdoors: 'Countryside',
    ac_fan: 'Air conditioning',
  },
}

/** Display texts of null where null is a setting of its own, by path of the field. */
const nulls: Readonly<Record<string, string>> = {
  'ambient_sound.source': 'No sound',
  'inactivity_settings.reminder_timeout_ms': 'Never',
  'inactivity_settings.end_call_timeout_ms': 'Never',
}

/** True for a field whose values read Yes and No, in place of On and Off. */
const isFact = (path: string) => path === 'is_archived' || path.startsWith('metadata.')

/** Display text of a field's value. */
export function valueText(path: string, value: unknown, formats: Formats): string {
  if (path.startsWith('metadata.') && typeof value === 'number') return String(value)
  if (value === undefined) return path === 'is_archived' ? 'Unknown' : 'None'
  if (value === null) return valueIn(nulls, path) ?? 'Not set'
  if (typeof value === 'boolean')
    return isFact(path) ? (value ? 'Yes' : 'No') : value ? 'On' : 'Off'
  if (typeof value === 'number') return numberText(path, value, formats)
  if (typeof value === 'string') return value === '' ? 'Empty' : codeText(path, value, formats)
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object' || one === null)) {
    const words = value.map((one) =>
      typeof one === 'string' ? codeText(path, one, formats) : String(one),
    )
    return words.length > 0 ? linesOf(words.join(', ')) : path === languages ? 'Detected' : 'None'
  }
  const json = JSON.stringify(value)
  return linesOf(json.length > 80 ? JSON.stringify(value, null, 2) : json)
}

const languages = 'transcriber.languages'

function codeText(path: string, value: string, { language, date }: Formats): string {
  const word = valueIn(valueIn(codes, path) ?? {}, value)
  if (word !== undefined) return word
  if (/^(model|transcriber|voice)\.provider$/.test(path)) return plainText(providerName(value))
  if (/^(model|transcriber)\.model$/.test(path)) return plainText(modelName(value, date))
  if (/^(transcriber\.languages?|voice\.language)$/.test(path)) return plainText(language(value))
  return linesOf(path === 'voice.voice_id' ? voiceName(value) : value)
}

function numberText(path: string, value: number, { exact, duration, percent }: Formats): string {
  if (path.endsWith('_ms')) return duration(value / 1000)
  if (path.endsWith('_seconds')) return duration(value)
  return /^(volume|ambient_sound)\./.test(path) && value >= 0 && value <= 1
    ? percent(value)
    : exact(value)
}

/** Maximum length of a shown value, characters. */
const longestValue = 5000

/**
 * Removes control and invisible characters from a text, keeps its line breaks, and cuts it after
 * `longest` characters.
 */
export function linesOf(text: string, longest = longestValue): string {
  const start = firstCharacters(text, longest)
  const lines = start.split(/\r\n|[\r\n\u2028\u2029]/)
  const left = text.length - start.length
  const more = left > 0 ? `\n… and ${left} more characters` : ''
  return `${lines.map((line) => plainText(line)).join('\n')}${more}`
}

/**
 * Maximum length of a text that is shown in full, characters. The end of a longer text is folded.
 */
const longestOpen = 400

/** Maximum length of a value beside its label on a phone, characters. */
export const longestBeside = 100

/** A text whose end is folded if it is long. */
export function longText(
  text: string,
  id: string,
  nodesOf: (text: string) => Content = (plain) => plain,
): HTMLElement {
  const name = text.length > longestBeside ? 'value long' : 'value'
  if (text.length <= longestOpen) return h('div', { class: name, dir: 'auto' }, nodesOf(text))
  const cut = /\s\S*$/.exec(text.slice(0, longestOpen))?.index ?? longestOpen
  const [rest, gap] = [h('span', { hidden: true }, nodesOf(text.slice(cut))), h('span', {}, ' …')]
  const shown = h('div', { class: 'value', dir: 'auto' }, nodesOf(text.slice(0, cut)), gap, rest)
  return h('div', { class: 'long' }, shown, wholeTextButton([rest], [gap], `whole-${id}`))
}

/** Shows the folded parts of a text in place of its gaps, and folds them again. */
export function wholeTextButton(
  parts: readonly HTMLElement[],
  gaps: readonly HTMLElement[],
  id: string,
): HTMLElement {
  const toggle = button(
    'Whole text',
    () => {
      const isOpen = toggle.ariaExpanded !== 'true'
      toggle.ariaExpanded = String(isOpen)
      for (const part of parts) part.hidden = !isOpen
      for (const gap of gaps) gap.hidden = isOpen
    },
    { id, class: 'quiet', 'aria-expanded': 'false' },
  )
  return toggle
}
