import { plainText } from '../../../text/safe-text.ts'
import { h } from '../shared/dom.ts'
import type { Page } from '../shared/view.ts'
import { openedId, settingsButton, settingsOf, warningList } from './card.ts'
import { changeList } from './changes.ts'
import type { AgentData, ManyItem } from './data.ts'

/** Outcomes for an agent, worst first. */
const outcomes: Readonly<Record<string, string>> = {
  failed: 'Failed',
  unknown: 'Not known whether it was saved',
  not_tried: 'Not tried',
  updated: 'Updated',
  would_change: 'Would change',
  unchanged: 'Unchanged',
}

interface Placed {
  readonly item: ManyItem
  /** Index, from 0. */
  readonly at: number
}

/** Results of a bulk operation; agents with the same outcome and changes form one group. */
export function manyAgents(data: AgentData, page: Page<AgentData>): readonly Node[] {
  const agents = data.agents ?? []
  return [
    h('p', {}, summaryOf(agents, page)),
    ...(data.failed_accounts ?? []).map(({ reason = '', accounts }) =>
      h(
        'p',
        { class: 'warning' },
        `Not looked for in ${accounts.map(({ id = '', name }) => plainText(name ?? id)).join(', ')}: ${plainText(reason)}`,
      ),
    ),
    ...groupsOf(agents).map((group) => groupSection(group, { data, page })),
  ]
}

function summaryOf(agents: readonly ManyItem[], { formats }: Page<AgentData>): string {
  const counts = outcomeNames(agents).map((name) => {
    const count = agents.filter(({ outcome }) => outcome === name).length
    return `${formats.number(count)} ${wordsOf(name).toLowerCase()}`
  })
  return `${formats.number(agents.length)} agent${agents.length === 1 ? '' : 's'}: ${counts.join(', ') || 'none'}.`
}

const wordsOf = (outcome: string): string =>
  Object.hasOwn(outcomes, outcome) ? (outcomes[outcome] ?? '') : plainText(outcome)

/** Occurring outcomes, worst first; unknown ones precede all others. */
function outcomeNames(agents: readonly ManyItem[]): string[] {
  const order = Object.keys(outcomes)
  return [...new Set(agents.map(({ outcome }) => outcome))].sort(
    (one, other) => order.indexOf(one) - order.indexOf(other),
  )
}

interface Group {
  readonly outcome: string
  /** The agent whose problem, changes and warnings represent the group. */
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

function groupSection({ outcome, first, members }: Group, { data, page }: Shown): HTMLElement {
  const { formats } = page
  const count = members.length > 1 ? ` · ${formats.number(members.length)} agents` : ''
  const problem = plainText(members[0]?.item.problem ?? '')
  const opened = openedId(data)
  const isOpen = opened !== undefined && members.some(({ item }) => item.agent_id === opened)
  return h(
    'section',
    { class: `outcome ${Object.hasOwn(outcomes, outcome) ? outcome : ''}` },
    h('h2', {}, `${wordsOf(outcome)}${count}`),
    h(
      'ul',
      { class: 'names' },
      members.map((member) => h('li', {}, memberName(member, { data, page }))),
    ),
    problem !== '' && h('p', {}, problem),
    warningList(first.warnings),
    first.changes !== undefined && first.changes.length > 0 && changeList(first.changes, formats),
    isOpen && data.opened !== undefined && openedSection(data.opened, page),
  )
}

function memberName({ item, at }: Placed, { data, page }: Shown): readonly (Node | string)[] {
  const { agent_id: agentId, name = '', account = data.account } = item
  const text = plainText(name) || plainText(agentId ?? '') || `Agent ${at + 1}`
  const owner = plainText(account?.name ?? account?.id ?? '')
  const suffix = owner ? [h('span', { class: 'muted' }, ` in ${owner}`)] : []
  if (agentId === undefined || !page.host.canCallTools()) return [text, ...suffix]
  const wanted = { agentId, accountId: account?.id ?? data.account_id }
  return [settingsButton(wanted, { id: `agent-${at}`, text, data, page }), ...suffix]
}

function openedSection(agent: Readonly<Record<string, unknown>>, { formats }: Page<AgentData>) {
  const name = typeof agent.name === 'string' ? plainText(agent.name) : ''
  return h(
    'div',
    { class: 'opened' },
    h('h3', {}, `Settings of ${name || 'this agent'}`),
    settingsOf(agent, formats),
  )
}
