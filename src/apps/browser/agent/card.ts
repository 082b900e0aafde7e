import { isObject } from '../../../text/json.ts'
import { plainText } from '../../../text/safe-text.ts'
import { h, listen } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Page } from '../shared/view.ts'
import type { AgentData, Fields } from './data.ts'
import { fullLabelOf, groups, labelOf, linesOf, valueText } from './labels.ts'

/** Fields shown elsewhere on the card, or about the reply itself. */
const elsewhere = new Set([
  ...['id', 'agent_id', 'account_id', 'name', 'tags', 'note', 'created', 'modified'],
  ...['is_archived', 'warnings', 'opened'],
])

/** All settings of an agent: the greeting first, then by group, including unknown fields. */
export function settingsOf(agent: Fields, formats: Formats): readonly Node[] {
  const names = Object.keys(agent).filter((name) => !elsewhere.has(name))
  const known = Object.keys(groups).filter((name) => isObject(agent[name]))
  const unknown = names.filter((name) => isObject(agent[name]) && !known.includes(name))
  const others = names.filter((name) => !isObject(agent[name]))
  return [
    ...(typeof agent.note === 'string' && agent.note !== ''
      ? [h('p', { class: 'value' }, linesOf(agent.note))]
      : []),
    h(
      'div',
      { class: 'groups' },
      [...known, ...unknown].map((name) => group(fullLabelOf(name), name, agent[name], formats)),
      others.length > 0 &&
        group(
          'Other settings',
          '',
          Object.fromEntries(others.map((name) => [name, agent[name]])),
          formats,
        ),
    ),
  ]
}

function group(title: string, path: string, value: unknown, formats: Formats): HTMLElement {
  const rows = rowsOf(path, value)
  return h(
    'section',
    { class: path === 'initial_message' ? 'group wide' : 'group' },
    h('h3', {}, title),
    rows.length > 0
      ? h(
          'dl',
          {},
          rows.slice(0, maxRows).map((row) => shownRow(row, formats)),
        )
      : h('p', { class: 'muted' }, 'none'),
    rows.length > maxRows &&
      h('p', { class: 'muted' }, `${formats.number(rows.length - maxRows)} more fields`),
  )
}

const shownRow = ({ path, value }: Row, formats: Formats) =>
  h(
    'div',
    {},
    h('dt', { class: 'muted' }, labelOf(path)),
    h(
      'dd',
      { class: 'value' },
      path === 'initial_message.message' && typeof value === 'string' && value !== ''
        ? templateNodes(linesOf(value))
        : valueText(path, value, formats),
    ),
  )

interface Row {
  readonly path: string
  readonly value: unknown
}

/** Maximum rows of a group; free data may have any number. */
const maxRows = 100

/** Maximum depth of nested rows; deeper objects are shown as JSON. */
const deepest = 3

function rowsOf(path: string, value: unknown): Row[] {
  const depth = path === '' ? 0 : path.split('.').length
  const isTakenApart = isObject(value) && depth < deepest
  if (!isTakenApart || (depth > 1 && Object.keys(value).length === 0)) return [{ path, value }]
  return Object.entries(value).flatMap(([name, field]) =>
    rowsOf(path === '' ? name : `${path}.${name}`, field),
  )
}

/** A greeting with its template placeholders marked. */
const templateNodes = (text: string) =>
  text
    .split(/(\{\{[^{}]*\}\}|\{%[^{}]*%\})/)
    .map((part, at) => (at % 2 === 1 ? h('code', {}, part) : part))

/** Tags, and an archived mark. */
export function tagList({ tags, is_archived }: Fields): HTMLElement | false {
  const all = Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string') : []
  if (all.length === 0 && is_archived !== true) return false
  return h(
    'ul',
    { class: 'tags', 'aria-label': 'Tags' },
    is_archived === true && h('li', { class: 'archived' }, 'Archived'),
    all.map((tag) => h('li', {}, plainText(tag))),
  )
}

/** Reference to an agent and its account. */
interface Wanted {
  readonly agentId: string
  readonly accountId: string | undefined
}

let closed: string | undefined

/** Id of the agent whose settings the user has opened. */
export const openedId = ({ opened }: AgentData): string | undefined =>
  opened?.id === closed ? undefined : opened?.id

/** A button that reads and shows an agent's settings, and hides them again. */
export function settingsButton(
  { agentId, accountId }: Wanted,
  {
    id,
    text,
    data,
    page,
  }: {
    readonly id: string
    readonly text: string
    readonly data: AgentData
    readonly page: Page<AgentData>
  },
): HTMLElement {
  const isOpen = openedId(data) === agentId
  const button = h('button', { id, 'aria-expanded': String(isOpen) }, text)
  const account = accountOf(accountId, page.input)
  return listen(button, 'click', () => {
    closed = isOpen ? agentId : undefined
    if (data.opened?.id === agentId) page.redraw()
    else page.call('get_agent', { agent_id: agentId, ...account }, { join: withOpened })
  })
}

/** Absent: the key's account, as in the call whose result is shown. */
function accountOf(known: string | undefined, { account_id: given }: Page<AgentData>['input']) {
  const id = known ?? given
  return id === undefined ? {} : { account_id: id }
}

const withOpened = (shown: AgentData, more: AgentData): AgentData => ({
  ...shown,
  opened: more,
})

/** Possible mistakes. */
export const warningList = (warnings: readonly string[] | undefined): HTMLElement | false =>
  warnings !== undefined &&
  warnings.length > 0 &&
  h(
    'ul',
    { class: 'warnings', 'aria-label': 'Warnings' },
    warnings.map((warning) => h('li', {}, h('strong', {}, 'Warning: '), linesOf(warning))),
  )
