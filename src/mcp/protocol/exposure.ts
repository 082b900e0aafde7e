import { closestWord, sameWord } from '../../text/closest-match.ts'
import type { Tool } from '../call/tool.ts'

/** As much of a tool as decides whether it is exposed. */
export interface ExposableTool {
  readonly name: string
  readonly effect: Tool['effect']
  readonly route: { readonly id: string }
}

/** What is exposed of the tools, and by whose wish the rest is not. */
export interface Exposure<T extends ExposableTool = Tool> {
  /** Every tool there is. */
  readonly all: readonly T[]
  /** Those that are listed and can be called, in the same order; never none. */
  readonly tools: readonly T[]
  /** By tool name, what leaves it out, such as `this server's setting --read-only`. */
  readonly hidden: ReadonlyMap<string, string>
}

type Choice = 'toolsets' | 'tools' | 'excludeTools' | 'readOnly'

/** What somebody wants exposed, as they wrote it. What is absent or blank restricts nothing. */
export type ExposureWish = { readonly [choice in Choice]?: string | undefined }

/** Whose wish it is and how they write it, for messages. */
export interface ExposureSource {
  /** Such as `this server's setting`. */
  readonly who: string
  readonly names: Readonly<Record<Choice, string>>
}

/** A wish that cannot be met: an unknown name, or nothing left. The message is for its author. */
export class ExposureError extends Error {
  override readonly name = 'ExposureError'
}

/** The toolset of an operation is the noun of its id. */
const toolsetOf = ({ id }: { readonly id: string }) => id.split('.', 1)[0] ?? ''

export const toolsetsOf = (operations: readonly { readonly id: string }[]): string[] => [
  ...new Set(operations.map(toolsetOf)),
]

/** A subaccount is an account: `accounts` stands for `subaccounts` too, but not the other way. */
const isOf = (tool: ExposableTool, toolset: string) =>
  [toolset, `sub${toolset}`].includes(toolsetOf(tool.route))

export const everyTool = <T extends ExposableTool>(tools: readonly T[]): Exposure<T> => ({
  all: tools,
  tools,
  hidden: new Map(),
})

/**
 * The part of an exposure that somebody wants: the tools of the toolsets and the tools they name
 * (both together where they name both), without those they exclude, and of these only what reads
 * where they want that. Never more than there was. Throws ExposureError.
 */
export function narrow<T extends ExposableTool>(
  exposure: Exposure<T>,
  wanted: ExposureWish,
  source: ExposureSource,
): Exposure<T> {
  const { all } = exposure
  const { names } = source
  const toolNames = all.map(({ name }) => name)
  const toolsets = listOf('toolset', toolsetsOf(all.map(({ route }) => route)), {
    text: wanted.toolsets,
    setting: names.toolsets,
  })
  const tools = listOf('tool', toolNames, { text: wanted.tools, setting: names.tools })
  const excluded = listOf('tool', toolNames, {
    text: wanted.excludeTools,
    setting: names.excludeTools,
  })
  const readOnly = isTrue(wanted.readOnly, names.readOnly)
  const choices = [toolsets && names.toolsets, tools && names.tools].filter((name) => name)

  const leftOutBy = (tool: T): string | undefined => {
    const isChosen = toolsets?.some((set) => isOf(tool, set)) || tools?.includes(tool.name)
    if (choices.length > 0 && !isChosen) return choices.join(' and ')
    if (excluded?.includes(tool.name)) return names.excludeTools
    return readOnly && tool.effect !== 'reads' ? names.readOnly : undefined
  }
  const hidden = new Map(exposure.hidden)
  for (const tool of exposure.tools) {
    const setting = leftOutBy(tool)
    if (setting) hidden.set(tool.name, `${source.who} ${setting}`)
  }
  const left = exposure.tools.filter(({ name }) => !hidden.has(name))
  if (left.length === 0) {
    const reasons = [...new Set(hidden.values())].join(', ')
    throw new ExposureError(`No tool is left to expose: all are left out by ${reasons}.`)
  }
  return { all, tools: left, hidden }
}

interface Written {
  readonly text: string | undefined
  readonly setting: string
}

/** The names in a comma-separated list, in any spelling; `undefined` where there is no list. */
function listOf(
  kind: string,
  known: readonly string[],
  { text, setting }: Written,
): readonly string[] | undefined {
  if (!text?.trim()) return undefined
  const words = new Set(text.split(',').map((word) => word.trim()))
  words.delete('')
  const there = `There are ${known.join(', ')}.`
  if (words.size === 0) throw new ExposureError(`${setting} names no ${kind}. ${there}`)
  return [...words].map((word) => {
    const name = sameWord(word, known)
    if (name) return name
    const shown = word.slice(0, longestName)
    const meant = closestWord(shown, known)
    const hint = meant ? `Did you mean ${meant}? ` : ''
    throw new ExposureError(`${setting}: there is no ${kind} ${shown}. ${hint}${there}`)
  })
}

/** Comparing with every word costs time, so no more than what could be a name is compared. */
const longestName = 64

/** A switch as text; of several, one that is on is enough. */
function isTrue(text: string | undefined, setting: string): boolean {
  if (!text?.trim()) return false
  const words = text.split(',').map((word) => word.trim().toLowerCase())
  if (words.some((word) => !['true', 'false', '1', '0'].includes(word))) {
    throw new ExposureError(`${setting} takes true or false, not ${text.slice(0, longestName)}.`)
  }
  return words.some((word) => word === 'true' || word === '1')
}
