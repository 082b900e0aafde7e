import { isDeepStrictEqual } from 'node:util'
import { sameWord } from '../../src/text/closest-match.ts'
import { isObject } from '../../src/text/json.ts'
import { accountReader } from '../../src/tool/account-reader.ts'
import { checkNewCatalogValues, withCatalogIds } from '../../src/tool/checks/catalog-check.ts'
import { checkNewGreeting } from '../../src/tool/checks/greeting.ts'
import type { Fields } from '../../src/tool/field-changes.ts'
import type { Run } from '../../src/tool/tool.ts'

/** Answer to callers who look for an agent's instructions. */
export const instructionsElsewhere =
  "This API has no field for an agent's instructions (system prompt): enter them at the platform. initial_message is only what the agent says first."

/** Argument names under which callers look for an agent's instructions. */
export const absentInstructions = {
  system_prompt: instructionsElsewhere,
  prompt: instructionsElsewhere,
  instructions: instructionsElsewhere,
}

/**
 * Warns of new instructions in `model`. They are sent all the same, because the platform accepts
 * unknown fields there. Transcriber and voice are not checked: the same name may be a setting of
 * their provider.
 */
const instructionWarnings = (model: unknown, stored: unknown): string[] =>
  Object.entries(isObject(model) ? model : {}).flatMap(([name, value]) =>
    sameWord(name, Object.keys(absentInstructions)) === undefined ||
    (isObject(stored) && isDeepStrictEqual(stored[name], value))
      ? []
      : `model.${name}: the platform may ignore this. ${instructionsElsewhere}`,
  )

export type NewValueChecks = ReturnType<typeof newValueChecks>

/**
 * Checks of values before an agent is saved. Each check returns warnings or throws Refused. Results
 * are cached, so that a tool call checks a value once for any number of agents. `allowsUnlisted`:
 * saves ids that no catalog lists, with warnings.
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
     * Replaces names of models and voices in `wanted` with ids. Also warns of instructions in
     * `model`.
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

/** Caches a check's result per arguments. */
function onceEach<Values extends unknown[], Found>(check: (...values: Values) => Promise<Found>) {
  const made = new Map<string, Promise<Found>>()
  return (key: unknown, ...values: Values): Promise<Found> => {
    const text = JSON.stringify(key)
    const known = made.get(text) ?? check(...values)
    made.set(text, known)
    return known
  }
}

/** The fields whose values the catalogs list. */
const catalogFieldsOf = ({ model, transcriber, voice }: Fields) =>
  [model, transcriber, voice].map((part) =>
    isObject(part)
      ? [part.provider, part.model, part.voice_id, part.languages, part.language]
      : undefined,
  )
