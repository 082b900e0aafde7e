import { changeWords, type ToolWords } from './decision-words-of-changes.ts'

/** Words of a decision for people. */
export interface DecisionWords {
  readonly yes: string
  readonly no: string
  /** Whether `yes` deletes something. */
  readonly isDangerous: boolean
  /** Consequence to know before the answer. */
  readonly consequence: string | undefined
  /** Whether the consequence costs money or cannot be undone. */
  readonly isSerious: boolean
  /** Outcome that is not known: `The call may have been placed.` */
  readonly maybe: string
  /** The action while it is done: `Archiving …` */
  readonly working: string
  /** What is decided about, as a noun: `Agent "Front desk"`. */
  readonly noun: string
  /** Outcome that is known: `archived`. */
  readonly done: string
}

export type Facts = Readonly<Record<string, string>>

const costs = 'Calls cost money and cannot be hung up from here.'

const tools: Readonly<Record<string, ToolWords>> = {
  place_call: {
    answers: ['Place the call', 'Do not call'],
    ...{ effect: ['The call', 'placed'], kind: 'costs', consequence: costs },
  },
  place_calls: {
    answers: ['Place the calls', 'Do not call'],
    ...{ effect: ['The calls', 'placed'], kind: 'costs', consequence: costs },
  },
  ...changeWords,
}

const browserCall: ToolWords = {
  answers: ['Open the call', 'Do not open it'],
  effect: ['The call', 'opened'],
  consequence: 'No telephone rings, but the call may cost money.',
}

const agents: ToolWords = {
  answers: ['Archive', 'Keep'],
  effect: ['The agents', 'archived'],
  consequence: 'You can ask to restore them later. The platform may refuse.',
}

const otherTool: ToolWords = { answers: ['Go ahead', 'Do not'], effect: ['It', 'done'] }

const callTools: readonly string[] = ['place_call', 'place_calls']
export const placesCalls = (tool: string): boolean => callTools.includes(tool)

/** Words of a decision, by its tool, facts and question. */
export function decisionWords(tool: string, facts: Facts, question = ''): DecisionWords {
  const { answers, effect, kind, consequence } = wordsOf(tool, facts)
  const [yes, no] = answers
  const [subject, participle] = effect
  return {
    ...{ yes, no, isDangerous: kind === 'deletes', isSerious: kind !== undefined },
    // A call in the sandbox costs nothing. It has a fact that says so.
    consequence:
      'Sandbox' in facts ? undefined : kind === 'deletes' ? deletion(facts) : consequence,
    maybe: `${subject} may have been ${participle}.`,
    // `Place the call` is `Placing the call`.
    working: `${yes.replace(/(?<=\w)e?\b/, 'ing')} …`,
    noun: nounOf(question) ?? subject,
    done: participle,
  }
}

/** Object of a question: `Agent "Front desk"` of `Archive the agent "Front desk"?`. */
function nounOf(question: string): string | undefined {
  const [, verb, object] = /^(\w+) (?:the |a )?(.+)\?$/s.exec(question) ?? []
  return verb === 'Call' ? `Call to ${object}` : object && capitalised(object)
}

function wordsOf(tool: string, facts: Facts): ToolWords {
  if (tool === 'place_call' && !('To' in facts)) return browserCall
  if (tool === 'archive_agent' && 'Agents' in facts) return agents
  return tools[tool] ?? otherTool
}

/** What a deletion means, for a number by whether it was purchased. */
function deletion({ Purchased: purchased }: Facts): string {
  const undo = 'This cannot be undone.'
  if (purchased === undefined || purchased.startsWith('probably not')) return undo
  return purchased.startsWith('probably')
    ? `${undo} The number is released, and may be lost for good.`
    : `${undo} If the number was purchased, it is released, and may be lost for good.`
}

/** Fact with the reasons why a call will probably fail. */
export const likelyFailure = 'Will probably fail'
/** Fact with the names of variables without a value. */
export const leftBlank = 'Left blank in the greeting'

/**
 * Facts with a place of their own, and those that are written for models. Of the latter, people
 * read the consequence above the buttons instead.
 */
const apart = [likelyFailure, leftBlank, 'Undo', 'Leave those out', 'Sandbox']

/** Names of the facts to list, also of those that are gone. */
export const listedFacts = (facts: Facts, before: Facts = {}): string[] =>
  [...new Set([...Object.keys(facts), ...Object.keys(before)])].filter(
    (name) => !apart.includes(name),
  )

/**
 * A quoted text, with the id behind it: `"Front desk" (00000000-…)`. Matches each quoted text as a
 * whole, so that no part of it is taken for an id.
 */
export const quotedText =
  /"((?:[^"\\]|\\.)*)"(?:\s\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\))?/g

/**
 * Removes the ids from a text and the quotes from telephone numbers. Names stay quoted, to tell
 * them from the server's own words, such as `nobody`. The quotes become typographic, unless a name
 * contains such a quote and could end its own quotation.
 */
export function withoutIds(text: string): string {
  const [open, close] = /[\\“”]/.test(text) ? ['"', '"'] : ['“', '”']
  return text.replaceAll(quotedText, (_, name: string) =>
    /^\+\d+$/.test(name) ? name : open + name + close,
  )
}

/** First words of values that are the server's own, and no name, number or id. */
const ownWords = /^(?:none|nobody|not|nothing|probably|simulated|set|the|does)(?=[ ,:(]|$)/

const capitalised = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** A fact's value as a sentence of the list: without ids, and with a capital letter. */
export const factText = (value: string): string =>
  withoutIds(value)
    .replace(ownWords, capitalised)
    // Keeps a variable of a template in one line.
    .replaceAll(/\{\{ ?([^{} ]+) ?\}\}/g, '{{\u00a0$1\u00a0}}')

/** A fact's name as a label: `external_id` is `External id`. */
export function factLabel(name: string): string {
  if (name === 'initial_message.message') return 'Greeting'
  const variable = /^test_variables\.(.+)/s.exec(name)?.[1]
  if (variable !== undefined) return `Filled in: ${variable}`
  return capitalised(name.replaceAll('_', ' ').replaceAll('.', ': '))
}

/** Reasons why a call will probably fail, as sentences. */
export const likelyFailures = (facts: Facts): string[] =>
  [...(facts[likelyFailure] ?? '').matchAll(quotedText)].map(([, words = '']) =>
    words.replaceAll('\\"', '"').replaceAll(/ \([0-9a-f-]{36}\)/g, ''),
  )
