import { capitalised } from '../../../text/labels.ts'
import { button, select } from '../shared/controls.ts'
import { providerName } from '../shared/display-names.ts'
import { h, listen } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Args } from '../shared/view.ts'
import type { Voice } from './data.ts'

const names = ['provider', 'language', 'gender', 'search'] as const

/** Filters of the voices; '' matches all. */
export type Filters = Readonly<Record<(typeof names)[number], string>>

/** The filters among the arguments of a tool call; an empty text for an absent one. */
export function filtersIn(args: Args): Filters {
  const of = (name: string) => (typeof args[name] === 'string' ? args[name] : '')
  const [provider, language, gender] = [of('provider'), of('language'), of('gender')]
  return { provider, language, gender, search: of('search') }
}

export const isSame = (one: Filters, other: Filters): boolean =>
  names.every((name) => one[name] === other[name])

/**
 * True if a voice matches `filters`. A filter with the same text as in the tool call (`asked`) is not
 * checked: the platform has applied it in its own way.
 */
export function fits(voice: Voice, filters: Filters, asked: Filters): boolean {
  const isOpen = (name: keyof Filters) => filters[name] === '' || filters[name] === asked[name]
  const isEqual = (name: 'provider' | 'language' | 'gender') =>
    isOpen(name) || voice[name].toLowerCase() === filters[name].toLowerCase()
  const words = filters.search.toLowerCase().split(/\s+/).filter(Boolean)
  const text = `${voice.name} ${voice.description} ${voice.id}`.toLowerCase()
  return (
    isEqual('provider') &&
    isEqual('language') &&
    isEqual('gender') &&
    (isOpen('search') || words.every((word) => text.includes(word)))
  )
}

/** The menus are unfolded on a phone. They stay so when other voices are shown. */
let isUnfolded = false

/** Choices: every provider, language and gender seen. */
export interface Seen {
  readonly providers: Set<string>
  readonly languages: Set<string>
  readonly genders: Set<string>
}

/** The search, and the menus beside it; on a phone, a button folds the menus. */
export function filterControls({
  filters,
  seen,
  formats,
  change,
  settle,
}: {
  readonly filters: Filters
  readonly seen: Seen
  readonly formats: Formats
  /** Called when a filter changes. */
  readonly change: (changed: Partial<Filters>) => void
  /** Called when the search text is complete. */
  readonly settle: () => void
}): HTMLElement {
  const choice = (
    id: 'provider' | 'language' | 'gender',
    { label, values, nameOf = (value) => value }: ChoiceOf,
  ) =>
    select({
      id,
      label,
      options: {
        '': 'All',
        ...Object.fromEntries(
          [...values]
            .map((value) => [value, nameOf(value)] as const)
            .sort(([, one], [, other]) => one.localeCompare(other)),
        ),
      },
      value: filters[id],
      change: (value) => {
        change({ [id]: value })
        showState()
        settle()
      },
    })
  const search = h('input', { id: 'search', type: 'search', autocomplete: 'off', maxlength: 200 })
  search.value = filters.search
  listen(search, 'input', () => change({ search: search.value.trim() }))
  // `change` fires on Enter and when the user leaves the field.
  listen(search, 'change', settle)
  const menus = [
    choice('language', {
      label: 'Language',
      values: seen.languages,
      nameOf: formats.language,
    }),
    choice('gender', { label: 'Gender', values: seen.genders, nameOf: capitalised }),
    choice('provider', { label: 'Provider', values: seen.providers, nameOf: providerName }),
  ]
  const fold = button(
    '',
    () => {
      isUnfolded = !isUnfolded
      showState()
    },
    { id: 'fold' },
  )
  const controls = h(
    'div',
    { class: 'controls', role: 'search' },
    h('label', { class: 'field' }, 'Search', search),
    fold,
    h('div', { class: 'menus' }, menus),
  )
  const showState = () => {
    const chosen = menus.filter((menu) => menu.querySelector('select')?.value).length
    fold.textContent = chosen > 0 ? `Filters (${chosen})` : 'Filters'
    fold.ariaExpanded = String(isUnfolded)
    controls.classList.toggle('unfolded', isUnfolded)
  }
  showState()
  return controls
}

interface ChoiceOf {
  readonly label: string
  readonly values: Iterable<string>
  readonly nameOf?: (value: string) => string
}
