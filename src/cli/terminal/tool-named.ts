import { CommandLineError } from '../../config/config-error.ts'
import { closestWord } from '../../text/closest-match.ts'
import { firstCharacters } from '../../text/first-characters.ts'
import { safeLine } from '../../text/safe-text.ts'

/** Most characters of a name that are shown. */
const longestShown = 64

/** The tool of this name, with underscores or hyphens. */
export const findTool = <T extends { readonly name: string }>(
  name: string,
  tools: readonly T[],
): T | undefined => tools.find((tool) => tool.name === name.replaceAll('-', '_'))

/** The same; throws CommandLineError where there is none. */
export function toolNamed<T extends { readonly name: string }>(
  name: string,
  tools: readonly T[],
): T {
  const found = findTool(name, tools)
  if (found) return found
  const names = tools.map((tool) => tool.name)
  const meant = closestWord(name, names)
  const hint = meant === undefined ? 'voice-agent-mcp tools lists them.' : `Did you mean ${meant}?`
  throw new CommandLineError(
    `There is no tool ${safeLine(firstCharacters(name, longestShown))}. ${hint}`,
  )
}
