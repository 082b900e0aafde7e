import { capitalised, counted } from '../../../text/labels.ts'
import { plainText } from '../../../text/safe-text.ts'
import { button } from '../shared/controls.ts'
import { providerName } from '../shared/display-names.ts'
import {
  type Content,
  emptyState,
  fill,
  h,
  listen,
  shadeEdges,
  warningNotice,
} from '../shared/dom.ts'
import { type Args, type Drawing, type Page, startView } from '../shared/view.ts'
import { comparison, isMarked, mark, markedVoices, maxMarked } from './comparison.ts'
import { leftOut, type Voice, VoicesData, voicesIn } from './data.ts'
import { type Filters, filterControls, filtersIn, fits, isSame, type Seen } from './filters.ts'
import { actions, voiceSample } from './voice-buttons.ts'

/** Number of voices that the view requests; "more" requests twice the shown number. */
const asksFor = 100

const seen: Seen = { providers: new Set(), languages: new Set(), genders: new Set() }
const noFilters = filtersIn({})
let filters: Filters = noFilters
/** Data of the last rendering. Other data resets the filters to those of its tool call. */
let drawn: VoicesData | undefined
let page: Page<VoicesData>
/** The view's own request for voices is pending. */
let isAsking = false
/** Other filters were chosen during the request. */
let isChosenAnew = false
let isComparing = false

startView({
  ...{ name: 'voices', title: 'Voices', what: 'voices' },
  skeleton: { control: 4, line: 1, item: 10 },
  schema: VoicesData,
  draw,
})

function draw(data: VoicesData, current: Page<VoicesData>): Drawing {
  page = current
  const asked = filtersIn(page.input)
  // Resets the filters after a failed request.
  if ((data !== drawn || isAsking) && !isChosenAnew) filters = asked
  drawn = data
  const voices = voicesIn(data)
  remember(voices, data, asked)
  const place = h('div', { id: 'place' })
  const show = () => fill(place, parts(data, { voices, asked, clear }))
  const clear = () => {
    filters = noFilters
    show()
    place.querySelector('input')?.focus()
    ask()
  }
  show()
  // Announced explicitly: the count is a new element, whose text screen readers would not read out.
  if (isAsking) page.announce(place.querySelector('#count')?.textContent ?? '')
  return { title: 'Voices', content: [place] }
}

interface Shown {
  readonly voices: readonly Voice[]
  /** Filters of the tool call whose result is shown. */
  readonly asked: Filters
  readonly clear: () => void
}

function parts(data: VoicesData, { voices, asked, clear }: Shown): Content {
  const found = h('span', { id: 'count' })
  const marks = h('span')
  // Not atomic: the hint is not read out again with each count.
  const count = h(
    'p',
    { role: 'status', 'aria-atomic': 'false', class: 'muted' },
    ...[found, ' ', marks],
  )
  const side = h('div')
  const body = h('div', { class: 'stack' })
  const list = h('div', { class: 'scrolled-list stack', id: 'list' }, side, body)
  const { canShowMore, isPart } = leftOut(data)
  const compare = button(
    'Compare',
    () => {
      isComparing = !isComparing
      showMarks()
    },
    { id: 'compare' },
  )
  const showMarks = () => {
    const marked = markedVoices().length
    if (marked < 2) isComparing = false
    compare.textContent = isComparing ? 'Close comparison' : 'Compare'
    compare.hidden = marked < 2
    compare.ariaExpanded = String(isComparing)
    fill(side, isComparing && comparison(page))
    const isFull = marked >= maxMarked
    const boxes = body.querySelectorAll<HTMLInputElement>('.mark')
    const hint = boxes.length > 0 ? 'Mark two or three to compare.' : ''
    marks.textContent = marked > 1 ? `${marked} marked${isFull ? ' (maximum)' : ''}.` : hint
    for (const box of boxes) {
      box.disabled = isFull && !box.checked
      box.title = box.disabled ? 'Unmark another voice first.' : ''
    }
  }
  const show = () => {
    const fitting = voices.filter((voice) => fits(voice, filters, asked))
    found.textContent = countText(fitting.length, voices.length, isPart)
    const more = async () => {
      if (await readMore(voices.length)) document.getElementById(`mark-${voices.length}`)?.focus()
    }
    fill(body, [
      fitting.length > 0 ? voiceList(fitting, showMarks) : noVoice(clear),
      canShowMore && page.host.canCallTools() && button('Show more voices', more, { id: 'more' }),
    ])
    showMarks()
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
  const bar = h('div', { class: 'row bar' }, count, compare)
  return [controls, failures(data), bar, shadeEdges(list)]
}

/**
 * One row per voice: checkbox for the comparison, sample, name, facts and buttons. `marked`: called after a
 * voice was marked, or its mark removed.
 */
const voiceList = (voices: readonly Voice[], marked: () => void): HTMLElement =>
  h(
    'ul',
    { class: 'voices', id: 'voices' },
    voices.map((voice, at) => voiceRow(voice, at, marked)),
  )

function voiceRow(voice: Voice, at: number, marked: () => void): HTMLElement {
  const { name, description } = voice
  const status = h('p', { role: 'status', class: 'status muted' })
  const heading = h('h2', { id: `voice-${at}` }, h('bdi', {}, name))
  const box = h('input', { type: 'checkbox', id: `mark-${at}`, class: 'mark' })
  box.ariaLabel = `Compare ${name}`
  box.checked = isMarked(voice)
  listen(box, 'change', () => {
    mark(voice, box.checked)
    marked()
  })
  const place = { key: String(at), status, page }
  return h(
    'li',
    { 'aria-labelledby': heading.id },
    h('label', { class: 'mark-place' }, box),
    voiceSample(voice, place),
    heading,
    description !== '' && h('p', { class: 'description' }, h('bdi', {}, description)),
    h('p', { class: 'about muted' }, factsOf(voice)),
    actions(voice, place),
    status,
  )
}

/** Language, gender and provider in words. */
const factsOf = ({ language, gender, provider }: Voice): Content =>
  Object.entries({
    language: language && page.formats.language(language),
    gender: capitalised(gender),
    provider: providerName(provider),
  }).map(([name, text]) => text && [h('span', { class: name }, text), ' '])

/** Adds the choices of these voices to the select lists, which keep all choices seen so far. */
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

function noVoice(clear: () => void): HTMLElement {
  return isSame(filters, noFilters)
    ? emptyState('No voices', 'The providers list none.')
    : emptyState(
        'No voice matches the filters',
        undefined,
        button('Clear the filters', clear, { id: 'clear' }),
      )
}

/** Why a provider's voices are missing. */
const failures = ({ providers = [] }: VoicesData) =>
  providers
    .filter(({ failed }) => failed !== undefined)
    .map(({ provider, failed = '' }) =>
      warningNotice(`No voices of ${plainText(providerName(provider))}: ${plainText(failed)}`),
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

/** Requests a longer list. */
function readMore(count: number): Promise<boolean> {
  const { input, call } = page
  return call('list_voices', argsOf(input, filtersIn(input), Math.max(asksFor, 2 * count)))
}

/**
 * Arguments of the tool call whose result is shown, with other filters and with sample addresses.
 */
function argsOf(input: Args, chosen: Filters, limit: number): Args {
  const { refresh: _, ...rest } = input
  const all = { ...rest, ...chosen, limit, fields: ['preview_url'] }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}
