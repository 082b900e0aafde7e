import { plainText } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { actionRow, badge, columnHead, h, icon, problemText, scrolledTable } from '../shared/dom.ts'
import { phoneNumber } from '../shared/typography.ts'
import type { Drawing, Page } from '../shared/view.ts'
import { CallData, joinLists, type ListedCall, problemOf } from './data.ts'
import {
  isReached,
  isTried,
  isUnderWay,
  looksOf,
  type Outcome,
  outcomeBadge,
  outcomeOfListed,
  outcomeOrder,
} from './outcome.ts'
import { numberCount, unplacedCallsButtons } from './unreached-call.ts'

/** The outcome whose calls are shown; `undefined`: all. */
let chosen: Outcome | undefined

/**
 * View of several calls: who calls, a bar of the outcomes, a button with the count of each outcome,
 * which filters the table below, and the table.
 */
export function batch(data: CallData, page: Page<CallData>): Drawing {
  const calls = data.calls ?? []
  const groups = Map.groupBy(calls, outcomeOfListed)
  if (chosen !== undefined && !groups.has(chosen)) chosen = undefined
  const counts = outcomeOrder.flatMap((outcome) => {
    const count = groups.get(outcome)?.length ?? 0
    return count > 0 ? [{ outcome, count }] : []
  })
  const first = firstCallOf(calls, page)
  const tried = calls.filter(isTried)
  const shown = chosen === undefined ? calls : (groups.get(chosen) ?? [])
  const asks = unplacedCallsButtons(shown, calls, page)
  return {
    title: titleOf(tried, first, page),
    about: aboutBatch(data, tried, first, page),
    content: [
      outcomeBar(counts),
      h(
        'div',
        { class: 'row filters', role: 'group', 'aria-label': 'Show calls by outcome' },
        filter(undefined, calls.length, page),
        counts.map(({ outcome, count }) => filter(outcome, count, page)),
      ),
      actionRow(asks),
      shown.some(({ last_words }) => last_words) &&
        h('div', {}, badge('Unverified: what was said last', 'warning')),
      table(shown, calls, page),
    ].filter((node) => node !== false),
  }
}

/** The first call of a list that was read, by its id. It has what all calls of a batch share. */
let known: { readonly id: string; readonly call?: CallData } | undefined

/** The first call, read in the background; `undefined` until then, or if it cannot be read. */
function firstCallOf(calls: readonly ListedCall[], page: Page<CallData>): CallData | undefined {
  const id = calls.find(({ call_id }) => call_id)?.call_id
  if (!id || !page.host.canCallTools()) return undefined
  if (known?.id === id) return known.call
  known = { id }
  const { account_id } = page.input
  const args = { account_id, call_id: id, to_turn: 1 }
  void page.read('get_call', args).then((result) => {
    const { data: call } = CallData.safeParse(result?.structuredContent)
    if (!call || known?.id !== id) return
    known = { id, call }
    if (document.getElementById('batch')) page.redraw()
  })
  return undefined
}

/** Title of the view: the agent, and how many numbers it calls or has called. */
function titleOf(
  tried: readonly ListedCall[],
  first: CallData | undefined,
  { formats }: Page<CallData>,
): Drawing['title'] {
  // A call that could not be read counts by its id.
  const count = new Set(tried.map(({ to_number, call_id }) => to_number ?? call_id)).size
  if (count === 0) return 'No number was called'
  const name = plainText(first?.agent_name ?? '')
  const agent = name ? h('bdi', {}, name) : 'The agent'
  const isGoingOn = tried.some((call) => isUnderWay(outcomeOfListed(call)))
  return [agent, ` ${isGoingOn ? 'is calling' : 'called'} ${numberCount(count, formats)}`]
}

/**
 * Line under the title: progress, the numbers that were not called, the time of the first call, the
 * agent's number, and an update.
 */
function aboutBatch(
  data: CallData,
  tried: readonly ListedCall[],
  first: CallData | undefined,
  page: Page<CallData>,
): readonly Node[] {
  const { formats, input } = page
  const { number } = formats
  const outcomes = tried.map(outcomeOfListed)
  const goingOn = outcomes.filter(isUnderWay).length
  // A call that is not known may be ringing.
  const unknown = outcomes.filter((outcome) => outcome === 'unknown').length
  const ended = tried.length - goingOn - unknown
  const notCalled = (data.calls ?? []).length - tried.length
  const given = typeof input.from_number === 'string' ? input.from_number : ''
  const from = plainText(first?.from_number ?? given)
  const progress = [
    `${number(ended)} of ${number(tried.length)} ended`,
    ...(unknown > 0 ? [`${number(unknown)} not known`] : []),
  ].join(' · ')
  return [
    ...(ended < tried.length
      ? [badge(progress, goingOn > 0 ? 'info' : 'warning')]
      : ended > 0
        ? [badge('All ended', 'success')]
        : []),
    ...(notCalled > 0 ? [h('span', { class: 'number' }, `${number(notCalled)} not called`)] : []),
    ...(first?.created ? [h('bdi', {}, formats.momentInZone(first.created))] : []),
    ...(from ? [h('span', {}, 'From ', phoneNumber(from))] : []),
    ...(goingOn > 0 ? update(data, page) : []),
  ]
}

/** Shares of the outcomes as one bar. The buttons below it are its legend. */
function outcomeBar(counts: readonly { outcome: Outcome; count: number }[]): HTMLElement {
  const parts = counts.map(({ outcome, count }) => {
    const part = h('span', { class: 'share', 'data-tone': looksOf(outcome).tone })
    part.style.flexGrow = String(count)
    return part
  })
  return h('div', { class: 'shares', 'aria-hidden': true }, parts)
}

function filter(
  outcome: Outcome | undefined,
  count: number,
  { formats, redraw }: Page<CallData>,
): HTMLElement {
  const number = h('strong', { class: 'number' }, formats.number(count))
  const { text, tone, shape } = outcome ? looksOf(outcome) : { text: 'All' }
  return button(
    [
      ...(shape ? [h('span', { class: 'mark', 'data-tone': tone }, icon(shape))] : []),
      text,
      number,
    ],
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
  const { account_id } = input
  const args = { account_id, batch_id, timeout_seconds: updateSeconds }
  const read = () => call('wait_for_call', args, { join: joinLists })
  return [button('Update', read, { id: 'update' })]
}

/**
 * One row for each shown call. The phone number in a row is a button that opens the call. On a
 * phone, the style sheet makes two lines of a row, so the roles are set as attributes.
 */
function table(
  shown: readonly ListedCall[],
  calls: readonly ListedCall[],
  page: Page<CallData>,
): HTMLElement {
  // All calls decide, so that the columns stay where they are when an outcome is chosen.
  const hasWords = calls.some(({ last_words }) => last_words)
  const hasProblems = calls.some((call) => problemOf(call, calls))
  const hasNotes = hasWords || hasProblems
  const row = (call: ListedCall) => {
    const outcome = outcomeOfListed(call)
    const problem = problemOf(call, calls)
    const { duration_seconds: seconds, last_words: words } = call
    const at = calls.indexOf(call)
    const note = problem ? problemText(problem, `problem-${at}`) : plainText(words ?? '')
    return h(
      'tr',
      {},
      h('th', { scope: 'row' }, numberOf(call, at, page)),
      h('td', {}, outcomeBadge(outcome)),
      h(
        'td',
        { class: 'number' },
        typeof seconds === 'number' && isReached(outcome) && page.formats.length(seconds),
      ),
      hasNotes && h('td', { class: 'note', dir: 'auto' }, note),
    )
  }
  const noteHead = hasWords ? (hasProblems ? 'Said last, or reason' : 'Said last') : 'Reason'
  const box = scrolledTable({
    id: 'batch',
    label: 'Calls',
    head: [
      columnHead('To'),
      columnHead('Outcome'),
      columnHead('Length', 'number'),
      hasNotes && columnHead(noteHead),
    ],
    rows: shown.map(row),
  })
  for (const [selector, role] of Object.entries(roles))
    for (const element of box.querySelectorAll(selector)) element.setAttribute('role', role)
  return box
}

const roles = {
  table: 'table',
  'thead, tbody': 'rowgroup',
  tr: 'row',
  'thead th': 'columnheader',
  'tbody th': 'rowheader',
  td: 'cell',
}

function numberOf(
  { call_id, to_number }: ListedCall,
  at: number,
  { host, call, input: { account_id } }: Page<CallData>,
): HTMLElement {
  const name = phoneNumber(plainText(to_number ?? '') || `Call ${at + 1}`)
  if (!call_id || !host.canCallTools()) return name
  const args = { account_id, call_id }
  return button(name, () => call('get_call', args), { id: `open-${at}`, class: 'quiet' })
}
