import { counted } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { type Tone, toneIcons } from '../../design.ts'
import { button } from '../shared/controls.ts'
import {
  badge,
  type Content,
  emptyState,
  h,
  icon,
  problemText,
  warningNotice,
} from '../shared/dom.ts'
import type { Drawing, Page } from '../shared/view.ts'
import { agentCard, openedId, settingsButton, warningList } from './card.ts'
import { changeList, saveRequest, unsavedBadge } from './changes.ts'
import type { AgentData, ManyItem } from './data.ts'

/** Label and tone of each outcome of a bulk operation, worst first. */
const outcomes: Readonly<Record<string, readonly [words: string, tone: Tone]>> = {
  failed: ['Failed', 'danger'],
  unknown: ['Not known whether it was saved', 'warning'],
  not_tried: ['Not tried', 'warning'],
  updated: ['Updated', 'success'],
  would_change: ['Would change', 'neutral'],
  unchanged: ['Unchanged', 'neutral'],
}

interface Placed {
  readonly item: ManyItem
  /** Index of the agent in the result, from 0. */
  readonly at: number
}

/** Results of a bulk operation; agents with the same outcome and changes form one group. */
export function bulkDrawing(data: AgentData, page: Page<AgentData>): Drawing {
  const agents = data.agents ?? []
  const { number } = page.formats
  const count = (name: string) => agents.filter(({ outcome }) => outcome === name).length
  const unsaved = count('would_change')
  const owner = ownerName(data.account)
  const groups = groupsOf(agents)
  return {
    title: `${number(agents.length)} agent${agents.length === 1 ? '' : 's'}`,
    about: [
      unsaved > 0 && unsavedBadge(),
      outcomeNames(agents).map((name) => {
        const [words, tone] = looksOf(name)
        return badge(`${number(count(name))} ${words.toLowerCase()}`, tone)
      }),
      owner && h('span', {}, `In ${owner}`),
    ],
    content: [
      (data.failed_accounts ?? []).map(({ reason = '', accounts }) =>
        warningNotice(
          `Not looked for in ${accounts.map(({ id = '', name }) => plainText(name ?? id)).join(', ')}: ${plainText(reason)}`,
        ),
      ),
      agents.length === 0 &&
        emptyState('No agents', 'The selection matches no agent. Nothing was changed.'),
      groups.map((group, at) => {
        const isFirst = group.outcome !== groups[at - 1]?.outcome
        return groupSection(group, { data, page }, isFirst && count(group.outcome))
      }),
      unsaved > 0 &&
        h('div', { class: 'row' }, saveRequest(page.host, `Ask to save ${number(unsaved)}`)),
    ],
  }
}

const looksOf = (outcome: string): readonly [words: string, tone: Tone] =>
  (Object.hasOwn(outcomes, outcome) && outcomes[outcome]) || [plainText(outcome), 'warning']

/** Distinct outcomes of the agents, worst first. Unknown outcomes precede all others. */
function outcomeNames(agents: readonly ManyItem[]): string[] {
  const order = Object.keys(outcomes)
  return [...new Set(agents.map(({ outcome }) => outcome))].sort(
    (one, other) => order.indexOf(one) - order.indexOf(other),
  )
}

interface Group {
  readonly outcome: string
  /** Agent whose problem, changes and warnings are shown for the whole group. */
  readonly first: ManyItem
  readonly members: Placed[]
}

function groupsOf(agents: readonly ManyItem[]): Group[] {
  const groups = new Map<string, Group>()
  for (const [at, item] of agents.entries()) {
    const place = item.same_as === undefined ? at : item.same_as - 1
    const first = agents[place] ?? item
    const hasOwn = first.changes !== undefined || first.warnings !== undefined
    const key = JSON.stringify([item.outcome, item.problem, hasOwn ? place : 'nothing'])
    const group = groups.get(key) ?? { outcome: item.outcome, first, members: [] }
    group.members.push({ item, at })
    groups.set(key, group)
  }
  const order = outcomeNames(agents)
  return [...groups.values()].sort(
    (one, other) => order.indexOf(one.outcome) - order.indexOf(other.outcome),
  )
}

interface Shown {
  readonly data: AgentData
  readonly page: Page<AgentData>
}

/** A group. `all`: number of agents with its outcome, for the heading of the first such group. */
function groupSection(
  { outcome, first, members }: Group,
  { data, page }: Shown,
  all: number | false,
): HTMLElement {
  const { formats } = page
  const problem = plainText(members[0]?.item.problem ?? '')
  const isNamedInProblem = members.every(
    (member) => !isRead(member.item) && problem.includes(` ${nameOf(member)}.`),
  )
  const opened = openedId(data)
  const isOpen = opened !== undefined && members.some(({ item }) => item.agent_id === opened)
  const place = members[0]?.at ?? 0
  return h(
    'section',
    { class: 'stack outcome' },
    all && outcomeHeading(outcome, all),
    !isNamedInProblem && nameList(members, { data, page }),
    problem !== '' && problemText(problem, `problem-${place}`),
    warningList(first.warnings),
    first.changes !== undefined &&
      first.changes.length > 0 &&
      changeList(first.changes, { id: `change-${place}`, formats }),
    isOpen && data.opened !== undefined && openedSection(data.opened, page),
  )
}

function outcomeHeading(outcome: string, all: number): HTMLElement {
  const [words, tone] = looksOf(outcome)
  return h(
    'h2',
    {},
    h('span', { class: 'muted', 'data-tone': tone }, icon(toneIcons[tone])),
    words,
    all > 1 && h('span', { class: 'muted' }, ` ${counted(all, 'agent')}`),
  )
}

/** Maximum names of a group that are shown before the user asks for more. */
const firstNames = 12

const unfolded = new Set<number>()

function nameList(members: readonly Placed[], shown: Shown): HTMLElement {
  const place = members[0]?.at ?? 0
  const isWhole = unfolded.has(place) || members.length <= firstNames + 1
  const names = isWhole ? members : members.slice(0, firstNames)
  const { number } = shown.page.formats
  return h(
    'ul',
    { class: 'names' },
    names.map((member) => h('li', {}, memberName(member, shown))),
    !isWhole &&
      h(
        'li',
        {},
        button(
          `${number(members.length - firstNames)} more`,
          () => {
            unfolded.add(place)
            shown.page.redraw()
            document.getElementById(`agent-${members[firstNames]?.at}`)?.focus()
          },
          { id: `names-${place}`, class: 'quiet' },
        ),
      ),
  )
}

const ownerName = (account: AgentData['account']) => plainText(account?.name ?? account?.id ?? '')

const nameOf = ({ item: { agent_id: agentId, name }, at }: Placed): string =>
  plainText(name ?? '') || plainText(agentId ?? '') || `Agent ${at + 1}`

/** False for a failed agent without a name, or with its id as the name, which may not exist. */
const isRead = ({ agent_id: agentId, name = '', outcome }: ManyItem): boolean =>
  outcome !== 'failed' || (name !== '' && name !== agentId)

function memberName(member: Placed, { data, page }: Shown): Content {
  const { item, at } = member
  const { agent_id: agentId, account = data.account } = item
  const text = nameOf(member)
  const owner = ownerName(item.account)
  const suffix = owner && h('span', { class: 'muted' }, ` in ${owner}`)
  if (agentId === undefined || !isRead(item) || !page.host.canCallTools())
    return [h('span', { dir: 'auto' }, text), suffix]
  const accountId = account?.id ?? data.account_id
  return [settingsButton({ id: `agent-${at}`, text, agentId, accountId }, data, page), suffix]
}

function openedSection(agent: Readonly<Record<string, unknown>>, page: Page<AgentData>) {
  const name = typeof agent.name === 'string' ? plainText(agent.name) : ''
  return h(
    'div',
    { class: 'stack opened' },
    h('h2', {}, `Settings of ${name || 'this agent'}`),
    agentCard(agent, page),
  )
}
