import { type Content, fill, h, icon } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Page } from '../shared/view.ts'
import { type Background, type CallCounts, readBackground } from './background-figures.ts'
import type { UsageData } from './data.ts'

/**
 * Key figures with their change from the period before. Figures that are still being read have a
 * placeholder.
 */
export function usageFigures(data: UsageData, page: Page<UsageData>): Content {
  const { formats } = page
  const list = h('dl', { class: 'figures' })
  const about = h('p', { class: 'muted small', id: 'compared' })
  const isReadable = page.host.canCallTools()
  const show = (background: Background | undefined) => {
    fill(list, figuresOf({ data, background, formats }).map(figureNode))
    fill(about, aboutOf({ data, background, formats }, isReadable))
    // A period without conversations has figures only if there were calls, or conversations before.
    const isNothing = data.totals.conversations === 0
    const hasCalls = Object.values(background?.calls.now ?? {}).some((count) => count > 0)
    list.hidden = isNothing && !hasCalls && !background?.before?.conversations
    about.hidden = list.hidden || (background !== undefined && about.textContent === '')
  }
  const background = readBackground(data, page)
  show(background ? undefined : { calls: {} })
  void background?.then(show)
  return [list, about]
}

interface Known {
  readonly data: UsageData
  /** `undefined` while it is being read. */
  readonly background: Background | undefined
  readonly formats: Formats
}

interface Figure {
  readonly name: string
  /** `undefined` while it is being read. */
  readonly value: string | undefined
  readonly isZero?: boolean
  /** `undefined`: unknown. */
  readonly change?: Change | undefined
  readonly isChangeRead?: boolean
}

interface Change {
  readonly text: string
  /** Direction of the arrow before the text. */
  readonly arrow?: 'up' | 'down'
}

const figuresOf = (known: Known): readonly Figure[] => [
  ...usageFiguresOf(known),
  ...callFiguresOf(known),
]

interface Amounts {
  readonly seconds: number
  readonly conversations: number
}

function usageFiguresOf({ data: { totals }, background, formats }: Known): readonly Figure[] {
  const before = totals.before ?? background?.before
  const figure = (
    name: string,
    amountOf: (amounts: Amounts) => number,
    textOf: (amount: number) => string,
  ): Figure => {
    const amount = amountOf(totals)
    return {
      ...{ name, value: textOf(amount), isZero: amount === 0 },
      change: before && relativeChange(amount, amountOf(before), formats),
      isChangeRead: before === undefined && background === undefined,
    }
  }
  return [
    figure(
      'Conversations',
      ({ conversations }) => conversations,
      (amount) => formats.fixed(amount),
    ),
    figure(
      'Minutes',
      ({ seconds }) => seconds / 60,
      (amount) => formats.fixed(amount, { decimals: 1 }),
    ),
    figure(
      'Average length',
      ({ seconds, conversations }) => (conversations > 0 ? seconds / conversations : 0),
      (amount) => (amount > 0 ? formats.length(amount) : '–'),
    ),
  ]
}

function relativeChange(now: number, before: number, formats: Formats): Change | undefined {
  if (before === 0) return undefined
  const percent = (size: number) => formats.fixed(size, { decimals: 1, isPercent: true })
  return changeOf(tenth((100 * (now - before)) / before), percent)
}

const noChange: Change = { text: 'No change' }

const changeOf = (change: number, textOf: (size: number) => string): Change =>
  change === 0 ? noChange : { text: textOf(Math.abs(change)), arrow: change > 0 ? 'up' : 'down' }

/** Rounds to one decimal, as displayed: a change that is displayed as zero is no change. */
const tenth = (value: number) => Math.round(value * 10) / 10

function callFiguresOf({ background, formats }: Known): readonly Figure[] {
  const names = ['Answer rate', 'Failed']
  if (!background) return names.map((name) => ({ name, value: undefined }))
  const { now, before } = background.calls
  if (!now) return []
  const [rate, rateBefore] = [now, before].map(rateOf)
  const points = (size: number) => `${formats.fixed(size, { decimals: 1 })} points`
  const callsIn = (size: number) => `${formats.fixed(size)} ${size === 1 ? 'call' : 'calls'}`
  return [
    {
      name: 'Answer rate',
      value: rate === undefined ? '–' : formats.fixed(rate, { decimals: 1, isPercent: true }),
      change:
        rate !== undefined && rateBefore !== undefined
          ? changeOf(tenth(rate - rateBefore), points)
          : undefined,
    },
    {
      name: 'Failed',
      ...{ value: formats.fixed(now.failed), isZero: now.failed === 0 },
      change: before && changeOf(now.failed - before.failed, callsIn),
    },
  ]
}

/** Answered calls, percent; `undefined` if there are none to answer. */
const rateOf = (counts: CallCounts | undefined): number | undefined =>
  counts && counts.answered + counts.unanswered > 0
    ? (100 * counts.answered) / (counts.answered + counts.unanswered)
    : undefined

const waiting = () => h('span', { class: 'skeleton', 'aria-hidden': true }, h('span'))

function figureNode({ name, value, isZero, change, isChangeRead }: Figure): HTMLElement {
  const isRead = value === undefined
  return h(
    'div',
    {},
    h('dt', {}, name),
    h('dd', { class: isZero && 'zero' }, value ?? waiting()),
    h(
      'dd',
      { class: 'small' },
      change ? changeNode(change) : (isRead || isChangeRead) && waiting(),
    ),
  )
}

/** A change with an arrow for its direction. It has no colour: fewer calls may be good or bad. */
function changeNode({ text, arrow }: Change): HTMLElement {
  if (!arrow) return h('span', {}, text)
  const word = h('span', { class: 'hidden' }, `${arrow} `)
  return h('span', {}, icon(arrow), ' ', word, text)
}

/**
 * Note under the figures: the compared period, the calls of the answer rate, and why figures are
 * missing.
 */
function aboutOf(
  { data: { meta, compared_with }, background, formats }: Known,
  isReadable: boolean,
): Content {
  const compared = compared_with ?? background?.before
  if (!compared && !background) return waiting()
  const range = compared && formats.range(compared.start, compared.end, meta.tz ?? undefined)
  const isUpToNow = !compared_with && background?.before?.isUpToNow
  const missing = compared_with
    ? 'Answer rate and failed calls'
    : 'Answer rate, failed calls and changes'
  const { answered = 0, unanswered = 0 } = background?.calls.now ?? {}
  const all = answered + unanswered
  const notes = [
    all > 0 &&
      `Answer rate: ${formats.fixed(answered)}\u00a0of\u00a0${formats.fixed(all)}\u00a0calls.`,
    !isReadable && `${missing} are not shown, because this client lets views read nothing more.`,
    background?.calls.hasTooMany &&
      'There are too many calls to count the answered and failed ones. Ask for a shorter time.',
    background?.calls.isAccountOnly && 'Answer rate and failed calls are without subaccounts.',
  ]
  return [
    range && [
      ...['Compared with ', h('bdi', {}, range)],
      isUpToNow ? ', up to the same time of day. ' : '. ',
    ],
    notes.filter(Boolean).join(' '),
  ]
}
