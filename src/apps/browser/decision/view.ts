import * as z from 'zod/mini'
import { capitalised } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import type { IconName, Tone } from '../../design.ts'
import { assignedNumbers, maxNumbersRead, stillAssigned } from '../shared/assigned-numbers.ts'
import { askButtons } from '../shared/controls.ts'
import { createDecisions } from '../shared/decision.ts'
import { type Facts, factText, withoutIds } from '../shared/decision-facts.ts'
import type { ToolWords } from '../shared/decision-words.ts'
import {
  actionRow,
  badge,
  type Content,
  columnHead,
  factList,
  h,
  problemText,
  scrolledTable,
} from '../shared/dom.ts'
import { lenient } from '../shared/lenient-schemas.ts'
import { withPhoneNumbers } from '../shared/typography.ts'
import { type Drawing, type Page, startView } from '../shared/view.ts'

/*
 * View of actions that need a decision and have no view of their own: archiving, deleting, changing
 * a subaccount. The decision itself is shared by all views (shared/decision.ts).
 */

const text = lenient(z.nullable(z.string()))

const Item = z.looseObject({
  agent_id: text,
  name: text,
  outcome: z.string(),
  problem: text,
})

/** Result after the decision: one object, or many agents with an outcome each. */
const Outcome = z.looseObject({
  done: lenient(z.boolean()),
  name: text,
  friendly_name: text,
  number: text,
  agent_id: text,
  phone_number_id: text,
  sip_trunk_id: text,
  id: text,
  is_active: lenient(z.boolean()),
  agents: lenient(z.array(Item)),
})
type Outcome = z.output<typeof Outcome>

/** Title of a change without a result, by the first word of its tool. */
const actionNames: Readonly<Record<string, string>> = { archive: 'Archive', delete: 'Deletion' }

startView({
  ...{ name: 'decision', title: 'Change', what: 'the result' },
  failedTitle: (tool) => actionNames[tool.split('_', 1)[0] ?? ''] ?? 'Change',
  decisions: (options) => createDecisions((tool, facts) => words[tool]?.(facts), options),
  skeleton: { line: 7, control: 2 },
  schema: Outcome,
  draw,
})

/** Words for the decisions of this view's tools (docs/views.md). */
const words: Readonly<Record<string, (facts: Facts) => ToolWords>> = {
  archive_agent: archiveWords,
  delete_phone_number: (facts) => ({
    ...deletionOf('The number'),
    consequence: [undone, ...unreached(facts), ...released(facts)].join(' '),
  }),
  delete_sip_trunk: ({ Numbers: numbers = '' }) => ({
    ...deletionOf('The SIP trunk'),
    consequence: numbers.startsWith('not known')
      ? `${undone} If numbers are on it, the platform does not delete it.`
      : undone,
  }),
  update_subaccount: () => ({
    answers: ['Disable', 'Keep as it is'],
    effect: ['The subaccount', 'disabled'],
    ...{ kind: 'stops', momentary: ['Calls running now'] },
    consequence: 'Everything in it stops working until it is enabled again.',
  }),
}

/**
 * Words for the decision to archive. An archived agent keeps its numbers, and the API does not say
 * what happens to their calls.
 */
function archiveWords(facts: Facts): ToolWords {
  const isMany = 'Agents' in facts
  const use = facts[isMany ? 'In use' : 'Answers numbers'] ?? 'none'
  const reached = isMany
    ? 'Agents that answer numbers keep them, and callers may reach nobody. Assign other agents first.'
    : 'Its numbers stay assigned to it, and their callers may reach nobody. Assign another agent first.'
  const restored = `You can ask to restore ${isMany ? 'them' : 'it'} later, but the platform may refuse to.`
  return {
    answers: ['Archive', 'Keep'],
    effect: isMany ? ['The agents', 'archived'] : ['The agent', 'archived'],
    ...(use.startsWith('none')
      ? { consequence: restored }
      : { kind: 'stops', consequence: `${reached} ${restored}` }),
    momentary: ['Calls running now', 'Answers numbers', 'In use'],
    ...(!isMany && use.startsWith('+') && { after: (host) => stillAssigned(factText(use), host) }),
  }
}

const undone = 'This cannot be undone.'

const deletionOf = (subject: string): ToolWords => ({
  answers: ['Delete', 'Keep'],
  effect: [subject, 'deleted'],
  kind: 'deletes',
  momentary: ['Calls running now', 'Answered by'],
})

/** That callers no longer reach the agent that answers the number. */
const unreached = ({ 'Answered by': agent = 'nobody' }: Facts): string[] =>
  agent.startsWith('"') ? [`Callers of this number no longer reach ${withoutIds(agent)}.`] : []

/** What happens to a number by whether it was purchased. */
function released({ Purchased: purchased = 'not known' }: Facts): string[] {
  if (purchased.startsWith('probably not')) return []
  return purchased.startsWith('probably')
    ? ['The number is released, and may be lost for good.']
    : ['If the number was purchased, it is released, and may be lost for good.']
}

function draw(data: Outcome, page: Page<Outcome>): Drawing {
  const { agents } = data
  if (agents) return manyAgents(data, agents, page)
  return {
    title: plainText(data.name || data.friendly_name || data.number || '') || idOf(data),
    about: [badge(outcomeOf(data), 'success')],
    content: [
      callersWarning(data, page),
      factList([
        ['Number', plainText(data.number ?? '')],
        ['Active', data.is_active === undefined ? '' : data.is_active ? 'Yes' : 'No'],
        ['Id', h('code', {}, idOf(data))],
      ]),
    ],
  }
}

function outcomeOf({ done, agent_id, is_active }: Outcome): string {
  if (done) return agent_id == null ? 'Deleted' : 'Archived'
  return is_active === false ? 'Disabled' : 'Saved'
}

/** Warning that archived agents are still assigned to numbers. Hidden until the numbers are read. */
function callersWarning(data: Outcome, { input, host, read }: Page<Outcome>): Content {
  const archived = (data.agents ?? [{ ...data, outcome: 'archived' }])
    .filter(({ outcome }) => isArchived(outcome))
    .flatMap(({ agent_id }) => agent_id ?? [])
  if (archived.length === 0) return false
  const { account_id, include_subaccounts } = input
  const args = { account_id, include_subaccounts, limit: maxNumbersRead }
  const reading = reads.get(data) ?? read('list_phone_numbers', args)
  reads.set(data, reading)
  const place = h('div', { hidden: true })
  void reading.then((list) => {
    const numbers = assignedNumbers(list?.structuredContent, archived)
    if (numbers) place.replaceWith(stillAssigned(numbers, host))
  })
  return place
}

/** The numbers read after each outcome, which may be drawn several times. */
const reads = new WeakMap<Outcome, ReturnType<Page<Outcome>['read']>>()

const isArchived = (outcome: string) => outcome === 'archived' || outcome === 'unchanged'

const idOf = (data: Outcome) =>
  plainText(data.agent_id ?? data.phone_number_id ?? data.sip_trunk_id ?? data.id ?? '')

const outcomes: Readonly<Record<string, readonly [label: string, tone: Tone, shape?: IconName]>> = {
  archived: ['Archived', 'success'],
  unchanged: ['Already archived', 'neutral'],
  in_use: ['In use, kept', 'neutral', 'lock'],
  failed: ['Failed', 'danger'],
  unknown: ['Not known', 'warning'],
  not_tried: ['Not tried', 'warning'],
}

function manyAgents(
  data: Outcome,
  agents: NonNullable<Outcome['agents']>,
  page: Page<Outcome>,
): Drawing {
  const { number } = page.formats
  const count = (outcome: string) => agents.filter((one) => one.outcome === outcome).length
  const badges = Object.entries(outcomes).map(
    ([outcome, [label, tone, shape]]) =>
      count(outcome) > 0 && badge(`${number(count(outcome))} ${label.toLowerCase()}`, tone, shape),
  )
  const row = ({ name, agent_id, outcome, problem }: (typeof agents)[number], at: number) => {
    const [label, tone, shape] = outcomes[outcome] ?? [outcome, 'neutral']
    return h(
      'tr',
      {},
      h('th', { scope: 'row', dir: 'auto' }, plainText(name || agent_id || '')),
      h(
        'td',
        {},
        badge(plainText(label), tone, shape),
        !!problem &&
          h(
            'div',
            { class: 'small muted' },
            problemText(
              capitalised(withoutIds(plainText(problem))),
              `problem-${at}`,
              withPhoneNumbers,
            ),
          ),
      ),
    )
  }
  const archived = agents.filter(({ outcome }) => isArchived(outcome)).length
  return {
    title: `${number(archived)} of ${number(agents.length)} agents archived`,
    about: badges,
    content: [
      callersWarning(data, page),
      scrolledTable({
        id: 'agents',
        label: 'Agents',
        head: [columnHead('Agent'), columnHead('Outcome')],
        rows: agents.map(row),
      }),
      archived < agents.length &&
        actionRow(askButtons(page.host, [['Ask what else can be done', 'ask', askAboutOthers]])),
    ],
  }
}

/** The message contains no untrusted text. */
const askAboutOthers =
  'archive_agent did not archive all of the agents. Please say why, and what else I can do. Do not repeat it without asking me.'
