import { capitalised } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { type Content, factList, folded, h, pieceNodes, problemText, scrollBox } from './dom.ts'
import { withPhoneNumbers } from './typography.ts'
import { wordDiff } from './word-diff.ts'

/** The facts of a decision, by name. The names and most values are the server's. */
export type Facts = Readonly<Record<string, string>>

/** The facts without control and invisible characters. */
export const plainFacts = (facts: Facts): Facts =>
  Object.fromEntries(
    Object.entries(facts).map(([name, value]) => [plainText(name), plainText(value)]),
  )

/** Warnings: reasons not to agree. */
export function warningsOf(facts: Facts): HTMLElement[] {
  return [
    ...likelyFailures(facts).map((problem, at) =>
      problemText(`${likelyFailure}: ${problem}`, `problem-${at}`, withPhoneNumbers),
    ),
    ...gaps.flatMap((name) =>
      name in facts ? [h('p', { dir: 'auto' }, `${name}: ${withoutIds(facts[name] ?? '')}`)] : [],
    ),
  ]
}

/**
 * The facts, except the warnings and those named in `leftOut`. A changed fact is shown as a word diff.
 */
export function factNodes(
  facts: Facts,
  before: Facts | undefined,
  leftOut: readonly string[] = [],
): Content {
  const names = listedFacts(facts, before).filter(
    (name) => !isCallFact(name, facts) && !leftOut.includes(name),
  )
  const blanks = gaps.flatMap((fact) =>
    [...(facts[fact] ?? '').matchAll(quotedText)].flatMap(([, list = '']) => list.split(', ')),
  )
  const rows = names.map((name) => {
    const [value, earlier] = [facts[name], before?.[name]].map((text) => text && factText(text))
    const isChanged = before !== undefined && value !== earlier
    const nodes = isChanged
      ? wordDiff(earlier ?? '', value ?? '').flatMap(pieceNodes)
      : valueNodes(value ?? '', factLabel(name).startsWith('Greeting') ? blanks : [])
    return [factLabel(name), h('span', { dir: 'auto' }, nodes)] as const
  })
  const isFolded = ([label]: (typeof rows)[number]) =>
    templateFact in facts && label.startsWith('Greeting of call')
  const greetings = rows.filter(isFolded)
  return [
    callList(facts),
    factList(
      rows.filter((row) => !isFolded(row)),
      decided,
    ),
    greetings.length > 0 &&
      folded('greetings', 'Greetings as they will be spoken', factList(greetings, decided)),
  ]
}

/** Classes of the facts, which a view may show beside lists of its own. */
const decided = 'facts decided'

/** Fact with the template of greetings that differ. The greetings are folded under it. */
const templateFact = 'Greeting template'

const filledIn = ', the platform fills in […]'

/**
 * Marks `Not known` and the variables in `blanks` in a value. The note about gaps gets a line of its
 * own.
 */
function valueNodes(value: string, blanks: readonly string[]): Content {
  const isFilledIn = value.endsWith(filledIn)
  const text = isFilledIn ? value.slice(0, -filledIn.length) : value
  return [
    ...text
      .split(/(^Not known|\[blank: .+?\](?!\])|\{\{\s.+?\s\}\})/)
      .flatMap((part) =>
        part === 'Not known' || blanks.includes(part.replace(/^(\[blank:|\{\{)\s|\s?[\]}]+$/g, ''))
          ? [h('mark', { 'data-tone': 'warning' }, part)]
          : withPhoneNumbers(part),
      ),
    isFilledIn && h('div', { class: 'small muted' }, 'The platform fills in […].'),
  ]
}

/** True for the facts of `place_calls` that name the numbers to call. */
const isCallFact = (name: string, facts: Facts) =>
  /^(To \(\d+ on\)|Call \d+)$/.test(name) || (name === 'To' && partsOf(facts.To ?? '').length > 1)

/** Parts of a list, at the commas outside quoted texts. */
const partsOf = (list: string): string[] =>
  (list.match(/(?:"(?:[^"\\]|\\.)*"|[^,"])+/g) ?? []).map((part) => part.trim())

/** The calls of a batch: all numbers or, if the calls differ, each number with its values. */
function callList(facts: Facts): HTMLElement | false {
  const listed = Object.entries(facts).filter(([name]) => isCallFact(name, facts))
  if (listed.length === 0) return false
  const calls = listed.flatMap(([name, value]) =>
    name.startsWith('To') ? partsOf(value).map((number) => [number]) : [partsOf(value)],
  )
  return scrollBox(
    { id: 'calls', 'aria-label': 'Calls' },
    h(
      'ol',
      { class: 'calls' },
      calls.map(([number = '', ...values]) =>
        h(
          'li',
          {},
          withPhoneNumbers(factText(number)),
          values.map((value) => {
            const [name = '', text = ''] = value.split(/ (.*)/s)
            const label = name.replace(/^test_variables\./, '')
            return h('div', { class: 'small muted', dir: 'auto' }, `${label}: ${withoutIds(text)}`)
          }),
        ),
      ),
    ),
  )
}

/** Folded list of the facts' ids, which tell apart agents or numbers of the same name. */
export function idList(facts: Facts): HTMLElement | false {
  const ids = Object.entries(facts).flatMap(([name, value]) => {
    const found = [...value.matchAll(quotedText)].flatMap(([, , id]) =>
      id === undefined ? [] : h('div', {}, h('code', {}, id)),
    )
    return found.length > 0 ? [[factLabel(name), found] as const] : []
  })
  return ids.length > 0 && folded('ids', 'Ids', factList(ids, decided), { class: 'muted' })
}

/** Fact with the reasons why a call will probably fail. */
const likelyFailure = 'Will probably fail'
/** Facts with the names of variables without a value: in a call, and in a saved greeting. */
const gaps = ['Left blank in the greeting', 'Unknown variables']

/**
 * Facts that the list omits: those shown elsewhere, and advice for models. Instead of that advice,
 * people read the consequence above the buttons.
 */
const apart = [likelyFailure, ...gaps, 'Undo', 'Leave those out', 'Sandbox']

/** Names of the facts to list, including facts that were removed. */
const listedFacts = (facts: Facts, before: Facts = {}): string[] =>
  [...new Set([...Object.keys(facts), ...Object.keys(before)])].filter(
    (name) => !apart.includes(name),
  )

/**
 * A quoted text, with the id behind it: `"Front desk" (00000000-…)`. Matches each quoted text as a
 * whole, so that no part of it is taken for an id.
 */
const quotedText = /"((?:[^"\\]|\\.)*)"(?:\s\(([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\))?/g

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

/** First words of a value in the server's own words, as opposed to a name, number or id. */
const ownWords = /^(?:none|nobody|not|nothing|probably|simulated|set|the|does)(?=[ ,:(]|$)/

/** A fact's value as a sentence of the list: without ids, and with a capital letter. */
export const factText = (value: string): string =>
  withoutIds(value)
    .replace(ownWords, capitalised)
    // Keeps a variable of a template in one line.
    .replaceAll(/\{\{ ?([^{} ]+) ?\}\}/g, '{{\u00a0$1\u00a0}}')

/** A fact's name as a label: `external_id` is `External id`. */
function factLabel(name: string): string {
  if (name === 'initial_message.message') return 'Greeting'
  const variable = /^test_variables\.(.+)/s.exec(name)?.[1]
  if (variable !== undefined) return `Filled in: ${variable}`
  return capitalised(name.replaceAll('_', ' ').replaceAll('.', ': '))
}

/** Reasons why a call will probably fail, as sentences. */
const likelyFailures = (facts: Facts): string[] =>
  [...(facts[likelyFailure] ?? '').matchAll(quotedText)].map(([, words = '']) =>
    words.replaceAll('\\"', '"').replaceAll(/ \([0-9a-f-]{36}\)/g, ''),
  )
