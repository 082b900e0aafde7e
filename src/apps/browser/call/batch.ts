import { plainText } from '../../../text/safe-text.ts'
import { badge, button, columnHead, h, problemText, scrolledTable } from '../shared/dom.ts'
import type { Drawing, Page } from '../shared/view.ts'
import { type CallData, joinLists, type ListedCall, problemOf } from './data.ts'
import {
  isReached,
  isUnderWay,
  type Outcome,
  outcomeBadge,
  outcomeOfListed,
  outcomeOrder,
  outcomeText,
} from './outcome.ts'

/** The outcome whose calls are shown; `undefined`: all. */
let chosen: Outcome | undefined

/**
 * View of several calls: a button with the count of each outcome, which filters the table below.
 */
export function batch(data: CallData, page: Page<CallData>): Drawing {
  const calls = data.calls ?? []
  const groups = Map.groupBy(calls, outcomeOfListed)
  if (chosen !== undefined && !groups.has(chosen)) chosen = undefined
  const isGoingOn = calls.some((call) => isUnderWay(outcomeOfListed(call)))
  return {
    title: calls.length === 1 ? '1 call' : `${page.formats.number(calls.length)} calls`,
    about: [
      isGoingOn ? badge('Under way', 'info') : badge('All ended', 'success'),
      ...(isGoingOn ? update(data, page) : []),
    ],
    content: [
      h(
        'div',
        { class: 'row filters', role: 'group', 'aria-label': 'Show calls by outcome' },
        filter(undefined, calls.length, page),
        outcomeOrder.map((outcome) => filter(outcome, groups.get(outcome)?.length ?? 0, page)),
      ),
      table(calls, page),
    ],
  }
}

function filter(
  outcome: Outcome | undefined,
  count: number,
  { formats, redraw }: Page<CallData>,
): HTMLElement | undefined {
  if (count === 0) return undefined
  const number = h('strong', { class: 'number' }, formats.number(count))
  const name = outcome === undefined ? 'All' : outcomeText(outcome)
  return button(
    [name, number],
    () => {
      chosen = outcome
      redraw()
    },
    { id: `show-${outcome ?? 'all'}`, class: 'filter', 'aria-pressed': String(chosen === outcome) },
  )
}

/** Time that the server may wait for a change of the calls before it replies to an update, s. */
const updateSeconds = 1

function update({ batch_id }: CallData, page: Page<CallData>): readonly HTMLElement[] {
  const { call, host, input } = page
  if (!batch_id || !host.canCallTools()) return []
  const account = input.account_id ? { account_id: input.account_id } : {}
  const args = { ...account, batch_id, timeout_seconds: updateSeconds }
  const read = () => call('wait_for_call', args, { join: joinLists })
  return [button('Update', read, { id: 'update', class: 'link' })]
}

/** One row per call. The phone number in a row is a button that opens the call. */
function table(calls: readonly ListedCall[], page: Page<CallData>): HTMLElement {
  const shown = calls.filter((call) => chosen === undefined || outcomeOfListed(call) === chosen)
  const hasWords = shown.some(({ last_words }) => last_words)
  const row = (call: ListedCall) => {
    const outcome = outcomeOfListed(call)
    const problem = problemOf(call, calls)
    const { duration_seconds: seconds, last_words } = call
    const at = calls.indexOf(call)
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, numberOf(call, at, page)),
      h(
        'td',
        {},
        outcomeBadge(outcome),
        problem && h('div', { class: 'small muted' }, problemText(problem, `problem-${at}`)),
      ),
      h(
        'td',
        { class: 'number' },
        typeof seconds === 'number' && isReached(outcome) && page.formats.length(seconds),
      ),
      hasWords && h('td', { class: 'said', dir: 'auto' }, plainText(last_words ?? '')),
    )
  }
  return scrolledTable({
    id: 'calls',
    label: 'Calls',
    head: [
      columnHead('To'),
      columnHead('Outcome'),
      columnHead('Length', 'number'),
      hasWords && columnHead('Said last (unverified)'),
    ],
    rows: shown.map(row),
    stickyColumn: true,
  })
}

function numberOf(
  { call_id, to_number }: ListedCall,
  at: number,
  { host, call, input: { account_id } }: Page<CallData>,
): HTMLElement {
  const name = h('bdi', {}, plainText(to_number ?? '') || `Call ${at + 1}`)
  if (!call_id || !host.canCallTools()) return name
  const args = { ...(account_id ? { account_id } : {}), call_id }
  return button(name, () => call('get_call', args), { id: `open-${at}`, class: 'link' })
}
