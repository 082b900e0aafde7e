import { plainText } from '../../../text/safe-text.ts'
import { h } from '../shared/dom.ts'
import { type Drawing, type Page, startView } from '../shared/view.ts'
import { manyAgents } from './bulk-results.ts'
import { openedId, settingsButton, settingsOf, tagList, warningList } from './card.ts'
import { changeList } from './changes.ts'
import { AgentData, type Fields } from './data.ts'

startView({ name: 'agent', title: 'Agent', what: 'the agent', schema: AgentData, draw })

function draw(data: AgentData, page: Page<AgentData>): Drawing {
  if (data.agents) return { title: 'Agents', content: manyAgents(data, page) }
  // Results of a copy or an update have few settings; the rest is read on demand.
  const isWhole = data.agent_id === undefined && data.copied_from === undefined
  const agent = isWhole ? data : openedId(data) === undefined ? undefined : data.opened
  const known: Fields = agent ?? data
  const nodes = [
    tagList(known),
    h('p', { class: 'muted' }, factsOf(data, known, page)),
    whatHappened(data),
    warningList(data.warnings),
    data.changes !== undefined && data.changes.length > 0 && changeList(data.changes, page.formats),
    !isWhole && moreOf(data, page),
    ...(agent ? settingsOf(agent, page.formats) : []),
  ]
  const content = nodes.filter((node) => node !== false)
  return { title: plainText(data.name ?? '') || 'Agent without a name', content }
}

function factsOf(data: AgentData, known: Fields, { formats }: Page<AgentData>): readonly Node[] {
  const moment = (name: string) => {
    const value = known[name] ?? data[name]
    return typeof value === 'string' && value !== '' ? formats.moment(value) : undefined
  }
  const [created, modified] = [moment('created'), moment('modified')]
  const facts = [
    created !== undefined && h('span', {}, `Created ${created}`),
    modified !== undefined && h('span', {}, `Changed ${modified}`),
    h('span', {}, 'Id ', h('code', {}, plainText(data.agent_id ?? data.id ?? ''))),
    data.copied_from !== undefined &&
      h('span', {}, 'Copy of ', h('code', {}, plainText(data.copied_from))),
  ]
  return facts.filter((fact) => fact !== false).flatMap((fact, at) => (at ? [dot(), fact] : [fact]))
}

const dot = () => h('span', {}, ' · ')

/** Result of an update, if it concerns a single agent. */
function whatHappened({ applied, changes }: AgentData): Node | false {
  if (applied === undefined || !changes) return false
  const saved = changes.length > 0 ? 'Saved. What changed:' : 'Saved.'
  const notSaved =
    changes.length > 0
      ? 'Nothing is saved yet. What would change:'
      : 'Nothing to change: nothing was saved.'
  return h('p', {}, h('strong', {}, applied ? saved : notSaved))
}

function moreOf(data: AgentData, page: Page<AgentData>): Node | false {
  const agentId = data.agent_id ?? data.id
  if (agentId === undefined || !page.host.canCallTools()) return false
  const wanted = { agentId, accountId: data.account_id }
  return h('p', {}, settingsButton(wanted, { id: 'settings', text: 'All settings', data, page }))
}
