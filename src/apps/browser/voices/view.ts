import { counted } from '../../../text/dialog-text.ts'
import { plainText } from '../../../text/safe-text.ts'
import { h, listen } from '../shared/dom.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { leftOut, type Voice, VoicesData, voicesIn } from './data.ts'
import { type Filters, filterControls, filtersIn, fits, isSame, type Seen } from './filters.ts'
import { voiceList } from './list.ts'

/** Number of voices that the view requests; "more" requests twice the shown number. */
const asksFor = 100

const seen: Seen = { providers: new Set(), languages: new Set(), genders: new Set() }
const noFilters = filtersIn({})
let filters: Filters = noFilters
/** Data that the filters belong to. */
let drawn: VoicesData | undefined
let page: Page<VoicesData>
/** The view's own request for voices is pending. */
let isAsking = false
/** Other filters were chosen during the request. */
let isChosenAnew = false

startView({ name: 'voices', title: 'Voices', what: 'voices', schema: VoicesData, draw })

function draw(data: VoicesData, current: Page<VoicesData>): Drawing {
  page = current
  const asked = filtersIn(page.input)
  // Reverts a failed choice.
  if ((data !== drawn || isAsking) && !isChosenAnew) filters = asked
  drawn = data
  const voices = voicesIn(data)
  remember(voices, data, asked)
  const place = h('div')
  const fill = () => place.replaceChildren(...parts(data, { voices, asked, clear }))
  const clear = () => {
    filters = noFilters
    fill()
    place.querySelector('input')?.focus()
    ask()
  }
  fill()
  return { title: 'Voices', content: [place] }
}

interface Shown {
  readonly voices: readonly Voice[]
  /** Filters of the call whose result is shown. */
  readonly asked: Filters
  readonly clear: () => void
}

function parts(data: VoicesData, { voices, asked, clear }: Shown): readonly Node[] {
  const count = h('p', { role: 'status', id: 'count', class: 'muted' })
  const body = h('div')
  const show = () => {
    const fitting = voices.filter((voice) => fits(voice, filters, asked))
    count.textContent = countText(fitting.length, voices.length, leftOut(data).isPart)
    body.replaceChildren(...(fitting.length > 0 ? [voiceList(fitting, page)] : noVoice(clear)))
  }
  show()
  const controls = filterControls({
    filters,
    seen,
    formats: page.formats,
    change(changed) {
      filters = { ...filters, ...changed }
      show()
    },
    settle: ask,
  })
  return [controls, ...failures(data), count, body, ...moreButton(data, page, voices.length)]
}

/** Keeps every choice once seen in the select lists. */
function remember(voices: readonly Voice[], { providers = [] }: VoicesData, asked: Filters): void {
  const named = [...providers, ...voices].map(({ provider }) => provider)
  const values = [
    [seen.providers, [asked.provider, ...named]],
    [seen.languages, [asked.language, ...voices.map(({ language }) => language)]],
    [seen.genders, [asked.gender, ...voices.map(({ gender }) => gender)]],
  ] as const
  for (const [set, all] of values) for (const value of all) if (value) set.add(value)
}

function countText(shown: number, all: number, isPart: boolean): string {
  const count = shown === all ? '' : `${shown} of `
  return `${count}${counted(all, 'voice')}.${isPart ? ' There may be more.' : ''}`
}

function noVoice(clear: () => void): readonly Node[] {
  const text = h('p', { class: 'empty' }, 'No such voice.')
  if (isSame(filters, noFilters)) return [text]
  return [text, listen(h('button', { id: 'clear' }, 'Clear the filters'), 'click', clear)]
}

/** Why a provider's voices are missing. */
const failures = ({ providers = [] }: VoicesData) =>
  providers
    .filter(({ failed }) => failed !== undefined)
    .map(({ provider, failed = '' }) =>
      h('p', { class: 'warning' }, `No voices of ${plainText(provider)}: ${plainText(failed)}`),
    )

/** Requests matching voices from the platform; filters chosen meanwhile lead to another request. */
async function ask(): Promise<void> {
  const isShown = () => isSame(filters, filtersIn(page.input))
  if (isAsking) isChosenAnew = true
  if (isAsking || isShown() || !page.host.canCallTools()) return
  isAsking = true
  do {
    isChosenAnew = false
    await page.call('list_voices', argsOf(page.input, filters, asksFor))
  } while (isChosenAnew && !isShown())
  isAsking = false
  isChosenAnew = false
}

/** Arguments of the shown call with other filters, and with sample addresses. */
function argsOf(input: Args, chosen: Filters, limit: number): Args {
  const { refresh: _, ...rest } = input
  const all = { ...rest, ...chosen, limit, fields: ['preview_url'] }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

function moreButton(data: VoicesData, { host, input, call }: Page<VoicesData>, count: number) {
  if (!host.canCallTools() || !leftOut(data).canShowMore) return []
  const button = h('button', { id: 'more' }, 'Show more voices')
  const limit = Math.max(asksFor, 2 * count)
  return [
    listen(button, 'click', () => call('list_voices', argsOf(input, filtersIn(input), limit))),
  ]
}
