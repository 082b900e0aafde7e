import type { Agent } from '../../contract/agent.ts'
import { isObject } from '../../json/is-object.ts'
import { nameWithId } from '../../text/closest-match.ts'
import type { Fields } from '../field-changes.ts'
import { shortJson } from './agent-patch.ts'

/** An agent that was created, in short: what a caller would otherwise read again. */
export function savedAgentLines(
  agent: Agent,
  { verb, given, warnings }: { verb: string; given: Fields; warnings: readonly string[] },
): string[] {
  const { id, name, modified, tags } = agent
  const facts = [
    partText('model', agent.model, ['provider', 'model']),
    partText('transcriber', agent.transcriber, ['provider', 'model', 'languages', 'language']),
    partText('voice', agent.voice, ['provider', 'voice_id', 'language']),
    greetingText(agent),
    tags && tags.length > 0 && `tags ${tags.join(', ')}`,
  ]
  const defaults = defaultsOf(agent, given)
  return [
    `${verb} ${nameWithId(name, id)}; modified ${modified ?? 'unknown'}.`,
    `${facts.filter(Boolean).join('; ')}.`,
    ...(defaults.length > 0 ? [`Not given, so by default: ${defaults.join(', ')}.`] : []),
    ...warnings.map((warning) => `Warning: ${warning}`),
  ]
}

function partText(part: string, value: unknown, fields: readonly string[]): string | false {
  if (!isObject(value)) return false
  const texts = fields.flatMap((field) => value[field] ?? []).filter((one) => one !== '')
  return texts.length > 0 && `${part} ${texts.join(' ')}`
}

/** Longest greeting that is repeated, in characters. */
const longestGreeting = 200

function greetingText({ initial_message: greeting }: Agent): string {
  const { message, mode } = isObject(greeting) ? greeting : {}
  const how = mode && mode !== 'fixed_message' ? ` (${mode})` : ''
  return message ? `greeting ${shortJson(message, longestGreeting)}${how}` : `no greeting${how}`
}

/** Settings that callers notice, and that a creation without them leaves to the platform. */
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

const valueAt = (fields: Fields, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), fields)
