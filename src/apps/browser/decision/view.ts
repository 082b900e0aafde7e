import * as z from 'zod/mini'
import { capitalised } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import type { IconName, Tone } from '../../design.ts'
import { createDecisions } from '../shared/decision.ts'
import { withoutIds } from '../shared/decision-facts.ts'
import { badge, columnHead, factList, h, problemText, scrolledTable } from '../shared/dom.ts'
import { lenient } from '../shared/lenient-schemas.ts'
import { withPhoneNumbers } from '../shared/typography.ts'
import { type Drawing, type Page, startView } from '../shared/view.ts'
import { changeWords } from './change-words.ts'

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
  decisions: (options) => createDecisions(changeWords, options),
  skeleton: { line: 6, control: 2 },
  schema: Outcome,
  draw,
})

function draw(data: Outcome, { formats }: Page<Outcome>): Drawing {
  const { agents } = data
  if (agents) return manyAgents(agents, formats.number)
  return {
    title: plainText(data.name || data.friendly_name || data.number || '') || idOf(data),
    about: [badge(outcomeOf(data), 'success')],
    content: [
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
  agents: NonNullable<Outcome['agents']>,
  number: (value: number) => string,
): Drawing {
  const count = (outcome: string) => agents.filter((one) => one.outcome === outcome).length
  const badges = Object.entries(outcomes).flatMap(([outcome, [label, tone, shape]]) =>
    count(outcome) > 0
      ? [badge(`${number(count(outcome))} ${label.toLowerCase()}`, tone, shape)]
      : [],
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
  const archived = count('archived') + count('unchanged')
  return {
    title: `${number(archived)} of ${number(agents.length)} agents archived`,
    about: badges,
    content: [
      scrolledTable({
        id: 'agents',
        label: 'Agents',
        head: [columnHead('Agent'), columnHead('Outcome')],
        rows: agents.map(row),
      }),
    ],
  }
}
