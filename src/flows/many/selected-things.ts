import * as z from 'zod'
import type { AccountInTree } from '../../session/account-tree.ts'
import { canonicalId } from '../../text/canonical-id.ts'
import { mostThings } from './for-each.ts'

/** An argument that says which of many things are meant. */
export const manyIds = z.array(z.string().min(1)).min(1).max(mostThings).optional()

/** One of many things that are meant, or why it is not known which one is. */
export interface SelectedThing {
  /** As it was given: an id or a name. */
  readonly given: string
  readonly id?: string
  /** Whose it is, where things of several accounts can be meant. */
  readonly account?: AccountInTree
  readonly problem?: string
}

export interface ThingsOnce {
  readonly things: readonly SelectedThing[]
  /** What means a thing that was named before: it is not done twice. */
  readonly repeated: readonly string[]
}

/** Each thing once, however often and by whatever it is named. */
export function eachOnce(things: readonly SelectedThing[]): ThingsOnce {
  const keys = things.map(
    ({ id, given, account }) => `${canonicalId(id ?? given)} ${account?.id ?? ''}`,
  )
  const isFirst = (_: SelectedThing, at: number) => keys.indexOf(keys[at] ?? '') === at
  return {
    things: things.filter(isFirst),
    repeated: things.filter((one, at) => !isFirst(one, at)).map(({ given }) => given),
  }
}
