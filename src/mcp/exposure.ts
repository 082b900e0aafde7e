import { closestWord, sameWord } from '../text/closest-match.ts'
import type { Tool } from '../tool/tool.ts'

export interface ExposableTool {
  readonly name: string
  readonly effect: Tool['effect']
  readonly route: { readonly id: string }
}

/** Tools that a request may call, and for all other tools the setting that hides them. */
export interface Exposure<T extends ExposableTool = Tool> {
  readonly all: readonly T[]
  /** The tools that can be called, in the same order; at least one. */
  readonly tools: readonly T[]
  /**
   * By name of a hidden tool, the setting that hides it, as errors quote it: `this server's setting
   * --read-only`.
   */
  readonly hidden: ReadonlyMap<string, string>
  /**
   * Hidden tools that `tools/list` still shows: the access token lacks their scope, and a call of
   * such a tool makes the client ask the user for that scope.
   */
  readonly grantable?: readonly T[]
}

/** The tools that `tools/list` shows: exposed and grantable ones, in the order of `all`. */
export const listedTools = <T extends ExposableTool>({
  all,
  tools,
  grantable = [],
}: Exposure<T>): readonly T[] =>
  grantable.length === 0
    ? tools
    : all.filter((tool) => tools.includes(tool) || grantable.includes(tool))

type SettingName = 'toolsets' | 'tools' | 'excludeTools' | 'readOnly'

/** Settings that restrict the tools, unparsed. An absent or blank setting restricts nothing. */
export type ExposureSettings = { readonly [name in SettingName]?: string | undefined }

/** Origin of settings, for error messages. */
export interface ExposureSource {
  /** Owner of the settings, such as `this server's setting`. */
  readonly who: string
  readonly names: Readonly<Record<SettingName, string>>
}

/**
 * Thrown for an invalid setting, or for settings that leave no tool. The message addresses the
 * author of the setting.
 */
export class ExposureError extends Error {
  override readonly name = 'ExposureError'
}

/** The toolset of an operation is the first part of its id: `agents` of `agents.list`. */
const toolsetOf = ({ id }: { readonly id: string }) => id.split('.', 1)[0] ?? ''

export const toolsetsOf = (operations: readonly { readonly id: string }[]): string[] => [
  ...new Set(operations.map(toolsetOf)),
]

/** The toolset `accounts` includes `subaccounts`; `subaccounts` does not include `accounts`. */
const belongsTo = (tool: ExposableTool, toolset: string) =>
  [toolset, `sub${toolset}`].includes(toolsetOf(tool.route))

export const everyTool = <T extends ExposableTool>(tools: readonly T[]): Exposure<T> => ({
  all: tools,
  tools,
  hidden: new Map(),
})

/**
 * Restricts an exposure by settings. Keeps the tools of the named toolsets and the named tools
 * (both, if both are named), without the excluded tools; with `readOnly`, only tools that read.
 * Never adds a tool. Throws ExposureError.
 */
export function narrowExposure<T extends ExposableTool>(
  exposure: Exposure<T>,
  wanted: ExposureSettings,
  source: ExposureSource,
): Exposure<T> {
  const { all } = exposure
  const { names } = source
  const toolNames = all.map(({ name }) => name)
  const listIn = (setting: SettingName, kind: string, known: readonly string[]) =>
    listOf(kind, known, wanted[setting], names[setting])
  const toolsets = listIn('toolsets', 'toolset', toolsetsOf(all.map(({ route }) => route)))
  const tools = listIn('tools', 'tool', toolNames)
  const excluded = listIn('excludeTools', 'tool', toolNames)
  const readOnly = isTrue(wanted.readOnly, names.readOnly)
  const choices = [toolsets && names.toolsets, tools && names.tools].filter((name) => name)

  const hiddenBy = (tool: T): string | undefined => {
    const isChosen = toolsets?.some((set) => belongsTo(tool, set)) || tools?.includes(tool.name)
    if (choices.length > 0 && !isChosen) return choices.join(' and ')
    if (excluded?.includes(tool.name)) return names.excludeTools
    return readOnly && tool.effect !== 'reads' ? names.readOnly : undefined
  }
  const hidden = new Map(exposure.hidden)
  for (const tool of exposure.tools) {
    const setting = hiddenBy(tool)
    if (setting) hidden.set(tool.name, `${source.who} ${setting}`)
  }
  const left = exposure.tools.filter(({ name }) => !hidden.has(name))
  if (left.length === 0) {
    const reasons = [...new Set(hidden.values())].join(', ')
    throw new ExposureError(`No tool is left to expose: all are left out by ${reasons}.`)
  }
  return { all, tools: left, hidden }
}

/** The names in a comma-separated list, spelled as in `known`; `undefined` if there is no list. */
function listOf(
  kind: string,
  known: readonly string[],
  text: string | undefined,
  setting: string,
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
    const meant = closestWord(word, known)
    const hint = meant ? `Did you mean ${meant}? ` : ''
    throw new ExposureError(`${setting}: there is no ${kind} ${shown}. ${hint}${there}`)
  })
}

const longestName = 64

/**
 * Parses a boolean setting. The values of a repeated header are joined by commas; one `true` is
 * enough. Throws ExposureError.
 */
function isTrue(text: string | undefined, setting: string): boolean {
  if (!text?.trim()) return false
  const words = text.split(',').map((word) => word.trim().toLowerCase())
  if (words.some((word) => !['true', 'false', '1', '0'].includes(word))) {
    throw new ExposureError(`${setting} takes true or false, not ${text.slice(0, longestName)}.`)
  }
  return words.some((word) => word === 'true' || word === '1')
}
