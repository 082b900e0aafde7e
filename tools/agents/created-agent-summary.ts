import { isDeepStrictEqual } from 'node:util'
import { type Agent, AgentCreate } from '../../src/contract/agent.ts'
import { documentedDefaults } from '../../src/contract/field.ts'
import { isEmptyValue, isObject } from '../../src/text/json.ts'
import { nameWithId } from '../../src/text/labels.ts'
import {
  type Fields,
  fieldsNamedIn,
  leavesOf,
  shortJson,
  valueAt,
} from '../../src/tool/field-changes.ts'

/**
 * The fields that the caller gave, and the fields that were sent. A copy also sends the settings of
 * the original.
 */
interface CreationRequest {
  readonly verb: string
  readonly given: Fields
  readonly sent: Fields
  readonly warnings: readonly string[]
}

/**
 * Summary of a created agent, so that callers need not read it again: the saved value of each given
 * field, and every other setting that differs from the platform's default.
 */
export function createdAgentLines(agent: Agent, request: CreationRequest): string[] {
  const { id, name, modified, tags } = agent
  const { verb, sent, warnings } = request
  const facts = [
    partText('model', agent.model, ['provider', 'model']),
    partText('transcriber', agent.transcriber, ['provider', 'model', 'languages', 'language']),
    partText('voice', agent.voice, ['provider', 'voice_id', 'language']),
    greetingText(agent),
    tags && (tags.length > 0 || 'tags' in request.given) && `tags ${tags.join(', ') || 'none'}`,
  ]
  const { given, others } = settingsOf(agent, request)
  const defaults = defaultsOf(agent, sent)
  return [
    `${verb} ${nameWithId(name, id)}; modified ${modified ?? 'unknown'}.`,
    `${facts.filter(Boolean).join('; ')}.`,
    ...(given.length > 0 ? [`Saved: ${given.join(', ')}.`] : []),
    ...(others.length > 0 ? [`Other than the default: ${others.join(', ')}.`] : []),
    ...(defaults.length > 0 ? [`Not given, so by default: ${defaults.join(', ')}.`] : []),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ]
}

/** Fields that the second line of the summary shows. */
const inSummary: ReadonlySet<string> = new Set([
  ...['name', 'tags', 'model.provider', 'model.model', 'initial_message.message'],
  ...['transcriber.provider', 'transcriber.model', 'transcriber.languages', 'transcriber.language'],
  ...['voice.provider', 'voice.voice_id', 'voice.language'],
])

/** Settings that the second line of the summary does not show, with their saved values. */
function settingsOf(agent: Agent, { given, sent }: Omit<CreationRequest, 'verb' | 'warnings'>) {
  const saved = fieldsNamedIn(AgentCreate.shape, agent)
  const isOtherwise = (path: string) => {
    const wanted = valueAt(sent, path)
    return (
      wanted !== undefined && wanted !== null && !isDeepStrictEqual(wanted, valueAt(saved, path))
    )
  }
  const isShown = (path: string) => !inSummary.has(path) || isOtherwise(path)
  const shown = (path: string) =>
    `${path} ${shortJson(valueAt(saved, path), longestSetting)}${isOtherwise(path) ? ` (sent: ${shortJson(valueAt(sent, path), longestSetting)})` : ''}`
  const asked = new Set(leavesOf(given).filter(isShown))
  const defaults = documentedDefaults(AgentCreate)
  const others = new Set([...leavesOf(saved), ...leavesOf(sent)].filter(isShown))
  return {
    given: [...asked].map(shown),
    others: [...others]
      .filter((path) => !asked.has(path))
      .filter((path) => {
        const value = valueAt(saved, path)
        const usual = valueAt(defaults, path)
        const isUsual = usual === undefined ? isNothing(value) : isDeepStrictEqual(value, usual)
        return isOtherwise(path) || !(isUsual || value === undefined)
      })
      .map(shown),
  }
}

/** True for a value that counts as the default if the reference documents no default. */
const isNothing = (value: unknown) => value === false || isEmptyValue(value)

/** Maximum length of a setting's value in the summary, characters. */
const longestSetting = 150

function partText(part: string, value: unknown, fields: readonly string[]): string | false {
  if (!isObject(value)) return false
  const texts = fields.flatMap((field) => value[field] ?? []).filter((one) => one !== '')
  return texts.length > 0 && `${part} ${texts.join(' ')}`
}

/** Maximum length of a greeting in the summary, characters. */
const longestGreeting = 200

function greetingText({ initial_message: greeting }: Agent): string {
  const { message, mode } = isObject(greeting) ? greeting : {}
  const how = mode && mode !== 'fixed_message' ? ` (${mode})` : ''
  return message ? `greeting ${shortJson(message, longestGreeting)}${how}` : `no greeting${how}`
}

/**
 * Settings that the summary shows even if nobody gave them, because callers notice their defaults.
 */
const noticed = [
  'max_duration_seconds',
  'allow_auto_hangup',
  'ambient_sound.source',
  'capture_settings.recording_enabled',
] as const

function defaultsOf(agent: Fields, given: Fields): string[] {
  return noticed.flatMap((path) => {
    const saved = valueAt(agent, path)
    const isDefault = valueAt(given, path) === undefined && saved !== undefined
    return isDefault ? `${path} ${shortJson(saved)}` : []
  })
}
