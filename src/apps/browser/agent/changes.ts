import { askButtons } from '../shared/controls.ts'
import { added, badge, type Content, h, icon, pieceNodes, removed } from '../shared/dom.ts'
import type { Formats } from '../shared/formats.ts'
import type { Host } from '../shared/host.ts'
import { type Piece, wordDiff } from '../shared/word-diff.ts'
import type { Change } from './data.ts'
import {
  fullLabelOf,
  labelNodes,
  linesOf,
  longestBeside,
  valueText,
  wholeTextButton,
} from './field-display.ts'

/** Changes field by field, before and after. `id`: prefix of the ids of its buttons. */
export const changeList = (
  changes: readonly Change[],
  { id, formats }: { readonly id: string; readonly formats: Formats },
): HTMLElement =>
  h(
    'ul',
    { class: 'changes' },
    changes.map((change, at) => {
      const values = contrast(change, `${id}-${at}`, formats)
      const isLong = (values.textContent ?? '').length > longestBeside
      return h(
        'li',
        { class: isLong && 'long' },
        h('strong', { title: linesOf(change.field) }, labelNodes(fullLabelOf(change.field))),
        values,
      )
    }),
  )

function contrast({ field, before, after }: Change, id: string, formats: Formats): HTMLElement {
  if (isText(field, before) && isText(field, after))
    return textContrast(linesOf(before, longestCompared), linesOf(after, longestCompared), id)
  if (isList(before) && isList(after)) return listContrast(before, after)
  const [one, other] = [before, after].map((value) => valueText(field, value, formats))
  const isSame = one === other
  return paragraph(
    removed(isSame ? codeOf(before) : one),
    ' ',
    icon('arrow'),
    ' ',
    added(isSame ? codeOf(after) : other),
  )
}

const paragraph = (...content: readonly Content[]): HTMLElement =>
  h('p', { class: 'value', dir: 'auto' }, content)

/** The raw code of a value, which is shown if two values have the same display text. */
const codeOf = (value: unknown) =>
  linesOf(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** Maximum length of a compared text, characters. */
const longestCompared = 50_000

/** True for text that a person wrote, which is compared word by word. Other strings are codes. */
const isText = (field: string, value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  (/(^|\.)(message|name|note)$/.test(field) || /\s/.test(value))
const isList = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string')

/** Word diff of two texts in one paragraph. Sentences without a change nearby are folded. */
function textContrast(before: string, after: string, id: string): HTMLElement {
  if (before === after)
    return paragraph(
      before,
      ' ',
      h('em', { class: 'muted' }, '(differs in spaces, or in what is not shown)'),
    )
  const pieces = wordDiff(before, after)
  const common = lengthOf(pieces.filter(({ change }) => change === 'none'))
  if (common < Math.min(before.length, after.length) * minCommon)
    return h('div', { class: 'rewritten' }, paragraph(removed(before)), paragraph(added(after)))
  return foldedText(sentencesOf(pieces), id)
}

/**
 * Minimum share of the shorter text that both texts have in common, 0 to 1. Below it, the texts are
 * shown one after the other.
 */
const minCommon = 0.4

const lengthOf = (pieces: readonly Piece[]) =>
  pieces.reduce((length, { text }) => length + text.length, 0)

type Sentence = readonly Piece[]

const sentenceEnd = /(?<=[.!?…。！？]["'”’»)\]]*\s+|\n)/u

/** Splits a diff into sentences or lines, only at boundaries in unchanged text. */
function sentencesOf(pieces: readonly Piece[]): Sentence[] {
  const all: Piece[][] = [[]]
  for (const { text, change } of pieces) {
    const parts = change === 'none' ? text.split(sentenceEnd) : [text]
    for (const [at, part] of parts.entries()) {
      if (part !== '') all.at(-1)?.push({ text: part, change })
      if (at < parts.length - 1 || (change === 'none' && /([.!?…。！？]\s+|\n)$/.test(part)))
        all.push([])
    }
  }
  return all.filter((sentence) => sentence.length > 0)
}

/** Minimum lengths for folding, characters: of the text, and of a run of unchanged sentences. */
const foldsFrom = { text: 300, run: 120 }

function foldedText(sentences: readonly Sentence[], id: string): HTMLElement {
  const isChanged = sentences.map((pieces) => pieces.some(({ change }) => change !== 'none'))
  const isShort = lengthOf(sentences.flat()) <= foldsFrom.text
  const runs: { readonly isNear: boolean; readonly pieces: Piece[] }[] = []
  for (const [at, sentence] of sentences.entries()) {
    const isNear = isShort || [at - 1, at, at + 1].some((near) => isChanged[near])
    const last = runs.at(-1)
    if (last?.isNear === isNear) last.pieces.push(...sentence)
    else runs.push({ isNear, pieces: [...sentence] })
  }
  const folded: HTMLElement[] = []
  const gaps: HTMLElement[] = []
  const nodes = runs.flatMap(({ isNear, pieces }) => {
    const shown = pieces.flatMap(pieceNodes)
    if (isNear || lengthOf(pieces) < foldsFrom.run) return shown
    const [run, gap] = [h('span', { hidden: true }, shown), h('span', { class: 'gap' }, '… ')]
    folded.push(run)
    gaps.push(gap)
    return [run, gap]
  })
  const text = paragraph(nodes)
  return folded.length === 0 ? text : h('div', {}, text, wholeTextButton(folded, gaps, id))
}

/** Kept, added and removed items of a list. */
function listContrast(before: readonly unknown[], after: readonly unknown[]): HTMLElement {
  const [stored, wanted] = [new Set(before), new Set(after)]
  const text = (value: unknown) => linesOf(String(value))
  const entries = [
    ...after.map((one) => (stored.has(one) ? text(one) : added(`+ ${text(one)}`))),
    ...before.filter((one) => !wanted.has(one)).map((one) => removed(`− ${text(one)}`)),
  ]
  return h(
    'ul',
    { class: 'tags' },
    entries.map((entry) => h('li', {}, entry)),
  )
}

/** Badge of a dry run that changes something. */
export const unsavedBadge = (): HTMLElement => badge('Nothing is saved yet', 'neutral', 'draft')

/** Asks the model to save the changes of a dry run; a sentence if the host takes no messages. */
export function saveRequest(host: Host, label: string): HTMLElement[] {
  const asks = askButtons(host, [[label, 'save', saveIt, 'primary']])
  return asks.length > 0
    ? asks
    : [h('span', { class: 'muted' }, 'To save it, ask in the conversation.')]
}

/** The message contains no untrusted text. */
const saveIt = 'Please save what the dry run has shown: the same update, without dry_run.'
