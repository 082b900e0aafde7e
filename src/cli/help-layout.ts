import { type HelpPart, helpParts } from '../config/help.ts'
import type { Environment } from '../config/setting-texts.ts'
import { textWidth } from './text-width.ts'

/** How a command lays out help of its own. */
export interface HelpLayout {
  /** Columns of standard output; `undefined`: it is no terminal. */
  readonly width: number | undefined
  /** Help as text, broken at the width. */
  readonly layOut: (parts: readonly HelpPart[]) => string
}

export function layoutFor(env: Environment): HelpLayout {
  const width = textWidth(env)
  return { width, layOut: (parts) => helpParts(parts, width) }
}
