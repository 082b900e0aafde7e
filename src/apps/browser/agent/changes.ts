import { h } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Change } from './data.ts'
import { fullLabelOf, linesOf, valueText } from './labels.ts'
import { type Piece, wordChanges } from './word-changes.ts'

/** Changes field by field, before and after. */
export const changeList = (changes: readonly Change[], formats: Formats): HTMLElement =>
  h(
    'ul',
    { class: 'changes' },
    changes.map((change) => changeEntry(change, formats)),
  )

function changeEntry(change: Change, formats: Formats): HTMLElement {
  const { field } = change
  const label = fullLabelOf(field)
  return h(
    'li',
    {},
    h('strong', {}, label),
    ' ',
    h('code', { class: 'muted' }, linesOf(field)),
    contrast(change, formats),
  )
}

function contrast({ field, before, after }: Change, formats: Formats): HTMLElement {
  if (isText(before) && isText(after)) return textContrast(linesOf(before), linesOf(after))
  if (isList(before) && isList(after)) return listContrast(before, after)
  const [one, other] = [valueText(field, before, formats), valueText(field, after, formats)]
  return h(
    'p',
    { class: 'value' },
    hidden('before: '),
    h('del', {}, one),
    ' → ',
    hidden('after: '),
    h('ins', {}, other),
  )
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

const hidden = (text: string) => h('span', { class: 'hidden' }, text)

/** Both texts with the changed words marked. */
function textContrast(before: string, after: string): HTMLElement {
  if (before === after)
    return h(
      'p',
      { class: 'value' },
      before,
      ' ',
      h('em', {}, '(differs in spaces, or in what is not shown)'),
    )
  const words = wordChanges(before, after)
  const marked = (pieces: readonly Piece[], tag: 'del' | 'ins') =>
    pieces.map(({ text, isChanged }) => (isChanged ? h(tag, {}, text) : text))
  const side = (name: string, text: readonly (Node | string)[]) =>
    h('div', {}, h('dt', { class: 'muted' }, name), h('dd', { class: 'value' }, text))
  return h(
    'dl',
    { class: 'sides' },
    side('Before', marked(words.before, 'del')),
    side('After', marked(words.after, 'ins')),
  )
}

/** Kept, added and removed items of a list. */
function listContrast(before: readonly unknown[], after: readonly unknown[]): HTMLElement {
  const [stored, wanted] = [new Set(before), new Set(after)]
  const text = (value: unknown) => linesOf(String(value))
  const entries = [
    ...after.map((one) =>
      stored.has(one) ? text(one) : h('ins', {}, hidden('added: '), `+ ${text(one)}`),
    ),
    ...before
      .filter((one) => !wanted.has(one))
      .map((one) => h('del', {}, hidden('removed: '), `− ${text(one)}`)),
  ]
  return h(
    'ul',
    { class: 'tags' },
    entries.map((entry) => h('li', {}, entry)),
  )
}
