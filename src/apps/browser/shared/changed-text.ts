import { h } from './dom.ts'
import type { Piece } from './word-diff.ts'

const hidden = (text: string) => h('span', { class: 'hidden' }, text)

/** A removed text, struck through, and announced as removed. */
export const removed = (text: string | undefined): HTMLElement =>
  h('del', {}, hidden('removed: '), text)

/** An added text, underlined, and announced as added. */
export const added = (text: string | undefined): HTMLElement =>
  h('ins', {}, hidden('added: '), text)

/** Nodes of a piece. The spaces around a changed phrase are not marked as changed. */
export function pieceNodes({ text, change }: Piece): readonly (Node | string)[] {
  const [, start = '', phrase = '', end = ''] = /^( *)(.*?)( *)$/s.exec(text) ?? []
  if (change === 'none' || phrase === '') return [markedPiece(text, change)]
  return [start, markedPiece(phrase, change), end]
}

const markedPiece = (text: string, change: Piece['change']): Node | string =>
  change === 'none' ? text : change === 'removed' ? removed(text) : added(text)
