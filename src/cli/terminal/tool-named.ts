import { CommandLineError } from '../../config/config-error.ts'
import { closestWord } from '../../text/closest-match.ts'
import { safeLine } from '../../text/safe-text.ts'

/** Longer names are cut before they are compared. */
const longestName = 64

/** The tool of this name, with underscores or hyphens. Throws CommandLineError. */
export function toolNamed<T extends { readonly name: string }>(
  name: string,
  tools: readonly T[],
): T {
  const wanted = name.replaceAll('-', '_')
  const found = tools.find((tool) => tool.name === wanted)
  if (found) return found
  const shown = name.slice(0, longestName)
  const meant = closestWord(
    shown,
    tools.map((tool) => tool.name),
  )
  const hint = meant === undefined ? 'voice-agent-mcp tools lists them.' : `Did you mean ${meant}?`
  throw new CommandLineError(`There is no tool ${safeLine(shown)}. ${hint}`)
}
