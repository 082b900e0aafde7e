import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Agent } from '../../src/contract/agent.ts'
import { driftOf } from '../../src/platform/reply-drift.ts'
import { isObject } from '../../src/text/json.ts'
import { foldLanguageCode } from '../../src/tool/checks/readiness.ts'
import { type Fields, shortJson } from '../../src/tool/field-changes.ts'
import {
  argumentOf,
  editedList,
  type ListEdit,
  listEditOptions,
  listEdits,
  type MissingEntries,
  textsOf,
} from '../../src/tool/list-edits.ts'
import { badArgument } from '../../src/tool/refused.ts'

const entry = z.string().min(1)
const tags = z.array(entry).min(1).optional()

/** List fields of an agent whose single entries can be added and removed. */
const lists = {
  tags: { path: 'tags', word: 'tag', keyOf: (tag: string) => tag },
  keywords: { path: 'transcriber.keywords', word: 'keyword', keyOf: (word: string) => word },
  languages: { path: 'transcriber.languages', word: 'language', keyOf: foldLanguageCode },
}

/** Arguments that add or remove single entries of a list. */
export const listEditArguments = {
  ...listEditOptions(
    { tags: entry, keywords: entry, languages: entry },
    { add: 'Adds to lists: tags, keywords, languages.', remove: 'Removes from the same lists.' },
  ),
  add_tags: tags.describe('Instead of add.tags.'),
  remove_tags: tags.describe('Instead of remove.tags.'),
}
type ListOptions = z.output<z.ZodObject<typeof listEditArguments>>

/**
 * The edits that the arguments of a tool call ask for. Throws Refused for contradictory arguments.
 */
export function agentListEdits(
  { add, remove, add_tags, remove_tags }: ListOptions,
  body: Fields,
): ListEdit[] {
  const given = {
    add: { ...add, tags: [...(add?.tags ?? []), ...(add_tags ?? [])] },
    remove: { ...remove, tags: [...(remove?.tags ?? []), ...(remove_tags ?? [])] },
  }
  const namesOf = (name: string) => ({
    add: name === 'tags' && add_tags ? 'add_tags' : `add.${name}`,
    remove: name === 'tags' && remove_tags ? 'remove_tags' : `remove.${name}`,
  })
  return listEdits(lists, given, (path) => hasField(body, path.split('.')), namesOf)
}

const hasField = (fields: unknown, [name = '', ...rest]: readonly string[]): boolean =>
  isObject(fields) &&
  Object.hasOwn(fields, name) &&
  (rest.length === 0 || hasField(fields[name], rest))

interface WantedLists {
  /** The request body with the complete new value of each changed list. */
  readonly body: Fields
  readonly missing: readonly MissingEntries[]
  readonly warnings: readonly string[]
}

/**
 * Applies the edits to the lists of an agent. Throws Refused for a list that `storedList` refuses.
 */
export function wantedLists(stored: Agent, edits: readonly ListEdit[], body: Fields): WantedLists {
  return edits.reduce<WantedLists>(
    (all, edit) => {
      const [name = '', inner] = edit.list.path.split('.')
      const before = storedList(stored, edit)
      const { entries, missing } = editedList(before, edit)
      const sent = inner ? { ...Object(all.body[name]), [inner]: entries } : entries
      return {
        body: isDeepStrictEqual(entries, before) ? all.body : { ...all.body, [name]: sent },
        missing: [...all.missing, missing],
        warnings: [...all.warnings, ...languageWarnings(before, entries, edit)],
      }
    },
    { body, missing: [], warnings: [] },
  )
}

/**
 * The stored entries of a list; empty if the agent lacks the list. Throws Refused for an unexpected
 * form, and for the languages of an agent that has only `transcriber.language`.
 */
function storedList(stored: Agent, edit: ListEdit): readonly string[] {
  const { list } = edit
  const { tags: storedTags, transcriber } = stored
  const refused = (message: string) => badArgument(argumentOf(edit), message)
  if (list === lists.languages && !transcriber?.languages && transcriber?.language)
    throw refused(
      `the agent has one language, transcriber.language ${shortJson(transcriber.language)}, and its provider may take no list: give transcriber.languages, or transcriber.language`,
    )
  const name = list.path.split('.').at(-1) ?? ''
  const value = list === lists.tags ? storedTags : transcriber?.[name]
  const entries = textsOf(value ?? [])
  const isRead = list !== lists.tags || !driftOf(stored).some(({ path }) => /^tags\b/.test(path))
  if (entries && isRead) return entries
  throw refused(
    `the platform shows ${list.path} of this agent in an undocumented form: give the whole list in ${list.path}`,
  )
}

/**
 * Warns when an edit empties the list of languages or fills an empty one. With an empty list the
 * platform detects the language.
 */
function languageWarnings(
  before: readonly string[],
  after: readonly string[],
  { list }: ListEdit,
): string[] {
  if (list !== lists.languages || (before.length === 0) === (after.length === 0)) return []
  return after.length === 0
    ? [`${list.path}: empty, so the language is detected`]
    : [`${list.path}: was empty, so the language was detected; now only ${after.join(', ')}`]
}
