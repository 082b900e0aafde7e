import { counted } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { type Ask, askButtons, button } from '../shared/controls.ts'
import {
  actionRow,
  badge,
  type Content,
  columnHead,
  h,
  icon,
  problemText,
  scrolledTable,
} from '../shared/dom.ts'
import { phoneNumber } from '../shared/typography.ts'
import type { Drawing, Page } from '../shared/view.ts'
import { CallData, isPhoneNumber, type ListedCall } from './data.ts'
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
    title: titleOf(tried, first),
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
    ],
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
function titleOf(tried: readonly ListedCall[], first: CallData | undefined): Drawing['title'] {
  // A call that could not be read counts by its id.
  const count = new Set(tried.map(({ to_number, call_id }) => to_number ?? call_id)).size
  if (count === 0) return 'No number was called'
  const name = plainText(first?.agent_name ?? '')
  const agent = name ? h('bdi', {}, name) : 'The agent'
  const isGoingOn = tried.some((call) => isUnderWay(outcomeOfListed(call)))
  return [agent, ` ${isGoingOn ? 'is calling' : 'called'} ${counted(count, 'number')}`]
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
): Content {
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
    ended < tried.length
      ? badge(progress, goingOn > 0 ? 'info' : 'warning')
      : ended > 0 && badge('All ended', 'success'),
    notCalled > 0 && h('span', { class: 'number' }, `${number(notCalled)} not called`),
    !!first?.created && h('bdi', {}, formats.momentInZone(first.created)),
    from && h('span', {}, 'From ', phoneNumber(from)),
    goingOn > 0 && update(data, page),
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
    [shape && h('span', { class: 'mark', 'data-tone': tone }, icon(shape)), text, number],
    () => {
      chosen = outcome
      redraw()
    },
    { id: `show-${outcome ?? 'all'}`, class: 'filter', 'aria-pressed': String(chosen === outcome) },
  )
}

/** Time that the server may wait for a change of the calls before it replies to an update, s. */
const updateSeconds = 1

function update({ batch_id }: CallData, page: Page<CallData>): Content {
  const { call, host, input } = page
  if (!batch_id || !host.canCallTools()) return false
  const { account_id } = input
  const args = { account_id, batch_id, timeout_seconds: updateSeconds }
  const read = () => call('wait_for_call', args, { join: joinLists })
  return button('Update', read, { id: 'update' })
}

/**
 * Updates a list of calls by id. A result of the batch has only the calls that were placed; the
 * others stay as they are.
 */
function joinLists(shown: CallData, more: CallData): CallData {
  const { calls: read = [] } = more
  const news = new Map(
    read.map((call) => [
      call.call_id,
      { ...call, problem: problemOf(call, read), problem_of: undefined },
    ]),
  )
  const calls = shown.calls?.map((call) => ({ ...call, ...news.get(call.call_id ?? '') }))
  return { ...shown, calls }
}

/**
 * Buttons for the shown calls of a list that have no id. A number that was not called, but is allowed,
 * can be called. A call that may have been placed is only looked up, so that nobody is called twice.
 */
function unplacedCallsButtons(
  shown: readonly ListedCall[],
  calls: readonly ListedCall[],
  { host }: Page<CallData>,
): readonly HTMLElement[] {
  const tried = calls.filter(isTried).map(({ to_number }) => to_number)
  const again = new Set<string>()
  const unknown = new Set<string>()
  for (const call of shown) {
    const number = call.to_number ?? ''
    if (call.call_id || !isPhoneNumber(number)) continue
    const outcome = outcomeOfListed(call)
    if (outcome === 'unknown') unknown.add(number)
    else if (unplaced.includes(outcome) && !tried.includes(number)) again.add(number)
  }
  const ask = (id: string, label: string, message: string, asked: Set<string>): Ask[] =>
    asked.size > 0 ? [[label, id, `${message}: ${[...asked].join(', ')}.`]] : []
  const retry = 'These numbers were not called. Call them now, as before'
  const notCalled = calls.length - tried.length
  const part = again.size < notCalled ? `${again.size} of the ` : ''
  const numbers = `${part}${counted(notCalled, 'uncalled number')}`
  const find = 'Find out whether these calls were placed. Do not repeat them'
  return askButtons(host, [
    ...ask('ask-again', `Ask to call ${numbers}`, retry, again),
    ...ask('ask-unknown', 'Ask about calls not known', find, unknown),
  ])
}

const unplaced: readonly Outcome[] = ['failed', 'not_dialled']

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

/**
 * The problem of a call in a list. If several calls have the same problem, only the first has its
 * text, with its own number. The outcome and the number of the row are not repeated.
 */
function problemOf(call: ListedCall, calls: readonly ListedCall[]): string {
  const first = call.problem == null ? calls[(call.problem_of ?? 0) - 1] : call
  const [number, own] = [first?.to_number ?? '', call.to_number ?? '']
  const problem = (first?.problem ?? '')
    .replace(/^the call is not allowed \(\w+\): /, '')
    .replace(`${number} is not called`, 'Not called')
    .replace(/ \w+\/\S+(?=, in the )/, (zone) => zone.replaceAll('_', ' '))
  return plainText(number && own ? problem.replaceAll(number, own) : problem)
}
