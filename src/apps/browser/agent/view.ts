import { plainText } from '../../../text/safe-text.ts'
import { stillAssigned } from '../shared/assigned-numbers.ts'
import { createDecisions } from '../shared/decision.ts'
import type { ToolWords } from '../shared/decision-words.ts'
import { actionRow, badge, type Content, factList, folded, h, icon } from '../shared/dom.ts'
import type { Host } from '../shared/host.ts'
import { withPhoneNumbers, withSoftHyphens } from '../shared/typography.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { bulkDrawing } from './bulk-results.ts'
import { agentCard, openedId, settingsButton, tagList, warningList } from './card.ts'
import { changeList, saveRequest, unsavedBadge } from './changes.ts'
import { AgentData, changesIn, type Fields, historyIn } from './data.ts'
import { fullLabelOf, linesOf, valueText } from './field-display.ts'
import { accountArgs, numbersOf } from './related-objects.ts'

/** Words for the decision to save a greeting that has variables without a value. */
const greetingWords: ToolWords = {
  answers: ['Save', 'Keep as it is'],
  effect: ['The agents', 'changed'],
  consequence: 'Variables without a value stay blank when an agent speaks.',
}

startView({
  ...{ name: 'agent', title: 'Agent', what: 'the agent' },
  decisions: (options) =>
    createDecisions((tool) => (tool === 'update_agent' ? greetingWords : undefined), options),
  skeleton: { bubble: 1, line: 7 },
  schema: AgentData,
  draw,
})

function draw(data: AgentData, page: Page<AgentData>): Drawing {
  if (data.agents) return bulkDrawing(data, page)
  // Results of a copy or an update have few settings; the rest is read on demand.
  const isWhole = data.agent_id === undefined && data.copied_from === undefined
  const agent = isWhole ? data : openedId(data) === undefined ? undefined : data.opened
  const account = accountArgs((isWhole ? undefined : data.account_id) ?? page.input.account_id)
  const content = [
    agent?.is_archived === true && whenAssigned(agent.id, account, page, stillAssigned),
    warningList(data.warnings),
    changesIn(data).length > 0 &&
      changeList(changesIn(data), { id: 'change', formats: page.formats }),
    copyFacts(data, page),
    actionRow([
      ...(isDryRun(data) ? saveRequest(page.host, 'Ask to save') : []),
      ...(isWhole ? [] : settingsOf(data, page)),
    ]),
    agent && agentCard(agent, page, account),
    isWhole && history(data, page),
  ]
  return {
    title: withSoftHyphens(plainText(data.name ?? '')) || 'Agent without a name',
    about: aboutOf(data, { agent, account }, page),
    content,
  }
}

/** Line under the title: outcome, phone numbers, tags, and time of the last change. */
function aboutOf(
  data: AgentData,
  { agent, account }: { readonly agent: Fields | undefined; readonly account: Args },
  page: Page<AgentData>,
): Content {
  const known: Fields = agent ?? data
  const modified = known.modified ?? data.modified
  return [
    outcomeOf(data),
    known.is_archived === true && badge('Archived'),
    agent && !agent.is_archived && whenAssigned(agent.id, account, page, answers),
    tagList(known),
    typeof modified === 'string' &&
      modified !== '' &&
      h('span', {}, `Last changed ${page.formats.momentInZone(modified)}`),
  ]
}

/** Result of an update or a copy of a single agent. */
function outcomeOf({ applied, changes = [], copied_from: original }: AgentData): Content {
  if (original !== undefined) return badge('Copied', 'success')
  if (applied === undefined) return false
  if (applied) return badge('Saved', 'success')
  return isDryRun({ applied, changes })
    ? unsavedBadge()
    : badge('Nothing to change: nothing was saved')
}

/** True for changes that are not saved yet. */
const isDryRun = ({ applied, changes = [] }: Pick<AgentData, 'applied' | 'changes'>) =>
  applied === false && changes.length > 0

/** What a card shows about the agent's phone numbers. Hidden until they are read. */
function whenAssigned(
  agentId: unknown,
  account: Args,
  page: Page<AgentData>,
  show: (numbers: string, host: Host) => Node,
): HTMLElement {
  const place = h('span', { hidden: true })
  void numbersOf(agentId, account, page).then((numbers) => {
    if (numbers) place.replaceWith(show(numbers, page.host))
  })
  return place
}

const answers = (numbers: string): Node =>
  h(
    'span',
    { class: 'numbers' },
    icon('phone'),
    h('span', {}, withPhoneNumbers(`Answers ${numbers}`)),
  )

/** The original of a copy, and what is different in the copy. */
function copyFacts(
  { copied_from: original, saved = {} }: AgentData,
  { formats }: Page<AgentData>,
): Node | false {
  if (original === undefined) return false
  return factList([
    ['Copy of', h('code', {}, plainText(original))],
    ...Object.entries(saved).map(
      ([path, value]) =>
        [
          fullLabelOf(path),
          h('span', { class: 'value', dir: 'auto' }, valueText(path, value, formats)),
        ] as const,
    ),
  ])
}

function settingsOf(data: AgentData, page: Page<AgentData>): HTMLElement[] {
  const agentId = data.agent_id ?? data.id
  if (agentId === undefined || !page.host.canCallTools()) return []
  const settings = { id: 'settings', text: 'All settings', agentId, accountId: data.account_id }
  return [settingsButton(settings, data, page)]
}

/** Earlier changes that are not folded. */
const openChanges = 3

/** Earlier changes of the agent, newest first. */
function history(data: AgentData, { formats }: Page<AgentData>): Content {
  const all = historyIn(data)
  if (all.length === 0 && data.changes_note === undefined) return false
  const earlier = all.map(({ at = '', outcome, changes }, index) =>
    h(
      'section',
      { class: 'stack earlier' },
      h(
        'p',
        { class: 'row muted' },
        formats.moment(at),
        outcome !== undefined && badge('Not known whether it was saved', 'warning'),
      ),
      changeList(changes, { id: `earlier-${index}`, formats }),
    ),
  )
  return [
    h('h2', {}, 'Latest changes'),
    all.length === 0 && h('p', { class: 'muted' }, linesOf(data.changes_note ?? '')),
    earlier.slice(0, openChanges),
    earlier.length > openChanges &&
      folded(
        'earlier',
        `${formats.number(earlier.length - openChanges)} earlier changes`,
        earlier.slice(openChanges),
      ),
  ]
}
