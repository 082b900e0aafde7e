import { isDeepStrictEqual } from 'node:util'
import type { Agent } from '../../src/contract/agent.ts'
import { nameWithId, sameWord } from '../../src/text/closest-match.ts'
import { isObject } from '../../src/text/json.ts'
import { accountReader } from '../../src/tool/account.ts'
import { checkNewCatalogValues, withCatalogIds } from '../../src/tool/checks/catalog-check.ts'
import { checkNewGreeting } from '../../src/tool/checks/greeting-check.ts'
import { type Fields, shortJson } from '../../src/tool/field-changes.ts'
import type { Run } from '../../src/tool/tool.ts'

/** For callers who look for an agent's instructions. */
export const instructionsElsewhere =
  "This API has no field for an agent's instructions (system prompt): enter them at the platform. initial_message is only what the agent says first."

/** Names that callers use for an agent's instructions. */
export const absentInstructions = {
  system_prompt: instructionsElsewhere,
  prompt: instructionsElsewhere,
  instructions: instructionsElsewhere,
}

/**
 * Warns of new instructions in `model`. Instructions there are sent, because the platform's objects
 * are open. Other parts are not checked, because there such a name may be a provider's setting.
 */
const instructionWarnings = (model: unknown, stored: unknown): string[] =>
  Object.entries(isObject(model) ? model : {}).flatMap(([name, value]) =>
    sameWord(name, Object.keys(absentInstructions)) === undefined ||
    (isObject(stored) && isDeepStrictEqual(stored[name], value))
      ? []
      : `model.${name}: the platform may ignore this. ${instructionsElsewhere}`,
  )

/** Summary of a created agent, so that callers need not read it again. */
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

/** Longest greeting in a result, characters. */
const longestGreeting = 200

function greetingText({ initial_message: greeting }: Agent): string {
  const { message, mode } = isObject(greeting) ? greeting : {}
  const how = mode && mode !== 'fixed_message' ? ` (${mode})` : ''
  return message ? `greeting ${shortJson(message, longestGreeting)}${how}` : `no greeting${how}`
}

/** Noticeable settings with a platform default. */
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

export type NewValueChecks = ReturnType<typeof newValueChecks>

/**
 * Checks of values before they are saved; each returns warnings or throws Refused. A call checks
 * the same value once, for any number of agents. `allowsUnlisted`: ids are saved as given, with
 * warnings.
 */
export function newValueChecks(
  run: Pick<Run, 'request' | 'session' | 'signal' | 'noteCoercion'>,
  allowsUnlisted: boolean | undefined,
) {
  const reader = accountReader(run)
  const catalogs = onceEach((wanted: Fields, stored: Fields) =>
    checkNewCatalogValues(wanted, reader, { stored, allowsUnlisted }),
  )
  const greetings = onceEach((initialMessage: unknown) => checkNewGreeting(initialMessage, reader))
  return {
    /**
     * `wanted` with ids in place of names of models and voices. Also warns of instructions in the
     * model, which no catalog has.
     */
    async catalogValues(wanted: Fields, stored: Fields = {}) {
      const key = [catalogFieldsOf(wanted), catalogFieldsOf(stored)]
      const { ids, warnings } = await catalogs(key, wanted, stored)
      for (const { part, field, given, id } of ids)
        run.noteCoercion(`${part}.${field}: ${JSON.stringify(given)} as ${JSON.stringify(id)}`)
      const instructions = instructionWarnings(wanted.model, stored.model)
      return {
        wanted: withCatalogIds(wanted, ids),
        warnings: [...warnings, ...instructions],
      }
    },
    greeting: (initialMessage: unknown) =>
      greetings(isObject(initialMessage) && initialMessage.message, initialMessage),
  }
}

/** Caches a check's result per key. */
function onceEach<Values extends unknown[], Found>(check: (...values: Values) => Promise<Found>) {
  const made = new Map<string, Promise<Found>>()
  return (key: unknown, ...values: Values): Promise<Found> => {
    const text = JSON.stringify(key)
    const known = made.get(text) ?? check(...values)
    made.set(text, known)
    return known
  }
}

/** The fields that are compared with the catalogs. */
const catalogFieldsOf = ({ model, transcriber, voice }: Fields) =>
  [model, transcriber, voice].map((part) =>
    isObject(part)
      ? [part.provider, part.model, part.voice_id, part.languages, part.language]
      : undefined,
  )
