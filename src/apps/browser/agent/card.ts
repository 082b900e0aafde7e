import { isObject } from '../../../text/json.ts'
import { counted } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { button, copyable } from '../shared/controls.ts'
import { voiceName } from '../shared/display-names.ts'
import { factList, h, icon } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import { withSoftHyphens } from '../shared/typography.ts'
import type { Args, Page } from '../shared/view.ts'
import { sampleButton } from '../shared/voice-sample.ts'
import { agentDefaults } from './agent-defaults.ts'
import type { AgentData, Fields } from './data.ts'
import { fullLabelOf, groups, labelOf, linesOf, valueText } from './field-texts.ts'
import { voiceOf } from './related-objects.ts'

/**
 * Fields that the list of settings leaves out: the card shows them elsewhere, or they describe the
 * tool's result and not the agent.
 */
const elsewhere = new Set([
  ...['id', 'agent_id', 'account_id', 'name', 'tags', 'note', 'created', 'modified'],
  ...['is_archived', 'warnings', 'opened', 'changes', 'changes_note'],
])

/** Settings in the first lines of the card. */
const inFront = new Set([
  ...['initial_message.message', 'model.provider', 'model.model'],
  ...['transcriber.provider', 'transcriber.model', 'transcriber.languages', 'transcriber.language'],
  ...['voice.provider', 'voice.voice_id', 'voice.language'],
])

/**
 * Card of an agent: greeting, model, voice, language, the settings that differ from the platform's
 * defaults, and, folded, all other settings. Unknown fields are shown, too. `account`: tool
 * argument that selects the account in whose catalog the voice's name is looked up; without it, the
 * card shows the voice's id.
 */
export function agentCard(agent: Fields, page: Page<AgentData>, account?: Args): readonly Node[] {
  const rows = Object.entries(agent)
    .filter(([name]) => !elsewhere.has(name))
    .flatMap(([name, value]) => rowsOf([name], value))
    .filter(({ path, value }) => !inFront.has(path) || !isPlain(value) || isUnspoken(path, agent))
  const [usual, own] = [rows.filter(isUsual), rows.filter((row) => !isUsual(row))]
  const sections = sectionNames.flatMap((name) => {
    const some = own.filter((row) => sectionOf(row) === name)
    return some.length > 0 ? [h('h2', {}, name), ...settingList(some, page, name)] : []
  })
  const id = typeof agent.id === 'string' ? agent.id : ''
  return [
    ...greeting(agent),
    factList([
      ['Model', codesOf(agent, 'model', ['model', 'provider'], page)],
      ['Voice', voiceFact(agent, page, account)],
      ['Language', languageFact(agent, page)],
      ['Speech recognition', codesOf(agent, 'transcriber', ['model', 'provider'], page)],
      [
        'Note',
        typeof agent.note === 'string' &&
          agent.note !== '' &&
          longText(linesOf(agent.note), 'note'),
      ],
      [
        'Id',
        id !== '' && copyable(plainText(id), { id: 'copy-id', what: "the agent's id", ...page }),
      ],
    ]),
    ...sections,
    ...(usual.length > 0
      ? [
          h(
            'details',
            {},
            h('summary', { id: 'defaults' }, defaultsText(usual.length)),
            settingList(usual, page, 'defaults'),
          ),
        ]
      : []),
  ]
}

const sectionNames = ['Changed from the default', 'Also set', 'Metadata'] as const

const sectionOf = ({ path, usual }: Row): (typeof sectionNames)[number] =>
  path.startsWith('metadata')
    ? 'Metadata'
    : usual === undefined
      ? 'Also set'
      : 'Changed from the default'

const defaultsText = (count: number) => `${counted(count, 'setting')} at the default or empty`

/** True for a value that fits into a line at the head of the card. */
const isPlain = (value: unknown) =>
  value === null ||
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((one) => typeof one === 'string'))

const textIn = (agent: Fields, part: string, name: string): string => {
  const fields = agent[part]
  const value = isObject(fields) && Object.hasOwn(fields, name) ? fields[name] : undefined
  return typeof value === 'string' ? value : ''
}

/** True for the greeting of an agent that does not say it, because the caller speaks first. */
const isUnspoken = (path: string, agent: Fields) =>
  path === 'initial_message.message' && isCallerFirst(agent)

const isCallerFirst = (agent: Fields) => textIn(agent, 'initial_message', 'mode') === 'user_first'

/** The agent's first words, or that the caller speaks first. */
function greeting(agent: Fields): readonly Node[] {
  if (!isObject(agent.initial_message)) return []
  const message = isCallerFirst(agent) ? '' : textIn(agent, 'initial_message', 'message')
  const isWorded = textIn(agent, 'initial_message', 'mode') === 'dynamic_message'
  return [
    h(
      'figure',
      { class: 'greeting' },
      h(
        'figcaption',
        { class: 'muted' },
        ...['Says first', isWorded && ', worded by the model', isWorded && message && ' from:'],
      ),
      message
        ? h('blockquote', {}, longText(linesOf(message), 'greeting', templateNodes))
        : !isWorded && h('p', { class: 'muted' }, 'Nothing: the caller speaks first.'),
    ),
  ]
}

/**
 * Maximum length of a text that is shown in full, characters. The end of a longer text is folded.
 */
const longestOpen = 400

/** Maximum length of a value beside its label on a phone, characters. */
export const longestBeside = 100

/** A text whose end is folded if it is long. */
function longText(
  text: string,
  id: string,
  nodesOf: (text: string) => readonly (Node | string)[] = (plain) => [plain],
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

/** A greeting with its template placeholders marked. */
const templateNodes = (text: string) =>
  text
    .split(/(\{\{[^{}]*\}\}|\{%[^{}]*%\})/)
    .map((part, at) =>
      at % 2 === 1 ? h('code', { class: 'placeholder', dir: 'ltr' }, part) : part,
    )

/** Display names of codes in a part of the agent, such as `GPT-4.1 · OpenAI`. */
function codesOf(
  agent: Fields,
  part: string,
  names: readonly string[],
  { formats }: Page<AgentData>,
): string {
  const words = names.map((name) => {
    const code = textIn(agent, part, name)
    return code && valueText(`${part}.${name}`, code, formats)
  })
  return words.filter(Boolean).join(' · ')
}

function languageFact(agent: Fields, { formats }: Page<AgentData>): string {
  const { transcriber } = agent
  const languages = isObject(transcriber) ? transcriber.languages : undefined
  if (Array.isArray(languages) && isPlain(languages))
    return valueText('transcriber.languages', languages, formats)
  const code = textIn(agent, 'transcriber', 'language') || textIn(agent, 'voice', 'language')
  return code && valueText('voice.language', code, formats)
}

/**
 * The voice's id and provider. When the catalog is read, the name replaces the id, and a button
 * opens the sample.
 */
function voiceFact(
  agent: Fields,
  page: Page<AgentData>,
  account: Args | undefined,
): HTMLElement | false {
  const id = linesOf(textIn(agent, 'voice', 'voice_id'))
  const provider = codesOf(agent, 'voice', ['provider'], page)
  if (!id && !provider) return false
  const name = h('span', { dir: 'auto', title: id }, voiceName(id) || 'Default')
  const place = h('span', { class: 'row' }, h('span', {}, name, provider && ` · ${provider}`))
  if (account)
    void voiceOf(agent, account, page).then((voice) => {
      if (voice) name.textContent = voice.name
      const sample = voice?.sample
      if (voice && sample) {
        const status = h('span', { role: 'status', class: 'muted' })
        const find = async () => sample
        const button = { id: 'sample', name: voice.name, find, status, host: page.host }
        place.append(sampleButton(button), status)
      } else if (voice !== undefined) place.append(h('span', { class: 'muted' }, 'No sample'))
    })
  return place
}

interface Row {
  readonly path: string
  readonly value: unknown
  /** The platform's default; `undefined` if none is documented. */
  readonly usual: unknown
}

/** Maximum rows in the list of settings. Metadata alone may have any number of fields. */
const maxRows = 100

/** Rows of a long list that are not folded. */
const openRows = 30
/** Maximum rows of a list that is not folded. */
const maxOpenRows = 36

/** Maximum depth of nested rows; deeper objects are shown as JSON. */
const deepest = 3

function rowsOf(path: readonly string[], value: unknown): Row[] {
  const isTakenApart = isObject(value) && path.length < deepest
  if (!isTakenApart || Object.keys(value).length === 0)
    return [{ path: path.join('.'), value, usual: defaultAt(path) }]
  return Object.entries(value).flatMap(([name, field]) => rowsOf([...path, name], field))
}

const defaultAt = (path: readonly string[]) =>
  path.reduce<unknown>(
    (fields, name) => (isObject(fields) && Object.hasOwn(fields, name) ? fields[name] : undefined),
    agentDefaults,
  )

/**
 * True for the platform's default; without a documented default, for an empty value, null or false.
 */
const isUsual = ({ value, usual }: Row): boolean =>
  usual === undefined
    ? value === null ||
      value === false ||
      value === '' ||
      (typeof value === 'object' && Object.keys(value).length === 0)
    : value === usual

/** Settings in the order of their groups, metadata last. `id`: part of the ids of its summaries. */
function settingList(
  rows: readonly Row[],
  { formats }: Page<AgentData>,
  id: string,
): readonly Node[] {
  const order = Object.keys(groups).filter((name) => name !== 'metadata')
  const placeOf = ({ path }: Row) => {
    const [first = ''] = path.split('.')
    const at = order.indexOf(first)
    if (at >= 0) return at
    return path === first ? order.length : order.length + (first === 'metadata' ? 2 : 1)
  }
  const sorted = rows.toSorted((one, other) => placeOf(one) - placeOf(other)).slice(0, maxRows)
  const isFolded = sorted.length > maxOpenRows
  const list = (some: readonly Row[]) => factList(some.map((row) => settingFact(row, formats)))
  return [
    list(isFolded ? sorted.slice(0, openRows) : sorted),
    isFolded && foldedRows(list(sorted.slice(openRows)), sorted.length - openRows, id),
    rows.length > maxRows &&
      h(
        'p',
        { class: 'muted' },
        `${formats.number(rows.length - maxRows)} more fields are not shown`,
      ),
  ].filter((node) => node !== false)
}

const foldedRows = (list: HTMLElement, count: number, id: string): HTMLElement =>
  h('details', {}, h('summary', { id: `rows-${id}` }, `${counted(count, 'more setting')}`), list)

/** A setting with the platform's default beside it, if that is another. */
const settingFact = ({ path, value, usual }: Row, formats: Formats) =>
  [
    labelNodes(path.startsWith('metadata.') ? labelOf(path) : fullLabelOf(path)),
    [
      settingValue(valueText(path, value, formats)),
      usual !== undefined &&
        usual !== value &&
        h('span', { class: 'muted' }, ` · default ${valueText(path, usual, formats)}`),
    ],
  ] as const

const settingValue = (text: string): HTMLElement =>
  h('span', { class: text.length > longestBeside ? 'value long' : 'value', dir: 'auto' }, text)

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

export function tagList({ tags }: Fields): HTMLElement | undefined {
  const all = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  if (all.length === 0) return undefined
  return h(
    'ul',
    { class: 'tags', 'aria-label': 'Tags' },
    all.map((tag) => h('li', { dir: 'auto' }, withSoftHyphens(plainText(tag)))),
  )
}

/** List of warnings about possible mistakes in the agent; `false` if there are none. */
export const warningList = (warnings: readonly string[] | undefined): HTMLElement | false =>
  warnings !== undefined &&
  warnings.length > 0 &&
  h(
    'ul',
    { class: 'warnings', 'aria-label': 'Warnings' },
    warnings.map((warning) =>
      h(
        'li',
        { class: 'notice', 'data-tone': 'warning' },
        icon('warning'),
        h('span', {}, h('strong', {}, 'Warning: '), linesOf(warning)),
      ),
    ),
  )
