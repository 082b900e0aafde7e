import { isObject } from '../../../text/json.ts'
import { plainText } from '../../../text/safe-text.ts'
import { button, copyable } from '../shared/controls.ts'
import { voiceName } from '../shared/display-names.ts'
import { type Content, factList, h, icon } from '../shared/dom.ts'
import { withSoftHyphens } from '../shared/typography.ts'
import type { Args, Page } from '../shared/view.ts'
import { sampleButton } from '../shared/voice-sample.ts'
import type { AgentData, Fields } from './data.ts'
import { linesOf, longText, valueText } from './field-display.ts'
import { accountArgs, voiceOf } from './related-objects.ts'
import { settingSections } from './settings-list.ts'

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
export function agentCard(agent: Fields, page: Page<AgentData>, account?: Args): Content {
  const settings = Object.entries(agent).filter(([name]) => !elsewhere.has(name))
  const isInFront = (path: string, value: unknown) =>
    inFront.has(path) && isPlain(value) && !isUnspoken(path, agent)
  const id = typeof agent.id === 'string' ? agent.id : ''
  return [
    greeting(agent),
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
    settingSections(settings, isInFront, page.formats),
  ]
}

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
function greeting(agent: Fields): Content {
  if (!isObject(agent.initial_message)) return false
  const message = isCallerFirst(agent) ? '' : textIn(agent, 'initial_message', 'message')
  const isWorded = textIn(agent, 'initial_message', 'mode') === 'dynamic_message'
  return h(
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
  )
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
        const options = { id: 'sample', name: voice.name, find, status, host: page.host }
        place.append(sampleButton(options), status)
      } else if (voice !== undefined) place.append(h('span', { class: 'muted' }, 'No sample'))
    })
  return place
}

export function tagList({ tags }: Fields): Content {
  const all = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  return (
    all.length > 0 &&
    h(
      'ul',
      { class: 'tags', 'aria-label': 'Tags' },
      all.map((tag) => h('li', { dir: 'auto' }, withSoftHyphens(plainText(tag)))),
    )
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

/** Id of the agent whose card the user has closed again. */
let closed: string | undefined

/** Id of the agent whose settings the user has opened. */
export const openedId = ({ opened }: AgentData): string | undefined =>
  opened?.id === closed ? undefined : opened?.id

interface SettingsButton {
  readonly id: string
  readonly text: string
  readonly agentId: string
  /** The agent's account; if unknown, the account in the tool call whose result is shown. */
  readonly accountId: string | undefined
}

/** A button that reads and shows an agent's settings, and hides them again. */
export function settingsButton(
  { id, text, agentId, accountId }: SettingsButton,
  data: AgentData,
  page: Page<AgentData>,
): HTMLElement {
  const isOpen = openedId(data) === agentId
  const account = accountArgs(accountId ?? page.input.account_id)
  return button(
    text,
    () => {
      closed = isOpen ? agentId : undefined
      if (data.opened?.id === agentId) page.redraw()
      else page.call('get_agent', { agent_id: agentId, ...account }, { join: withOpened })
    },
    { id, 'aria-expanded': String(isOpen), dir: 'auto' },
  )
}

const withOpened = (shown: AgentData, more: AgentData): AgentData => ({
  ...shown,
  opened: more,
})
