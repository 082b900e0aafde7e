import type { CommandSpec } from '../../../config/command-line.ts'
import type { SettingGroup } from '../../../config/setting.ts'
import type { Tool } from '../../../mcp/call/tool.ts'
import { flagOf, knownPlace } from '../argument-place.ts'
import { argumentRows } from '../argument-rows.ts'
import { ownFlags } from '../tool-arguments.ts'
import { findTool } from '../tool-named.ts'
import { shells } from './scripts.ts'
import { type TypedLine, typedLine } from './typed-line.ts'

/** A word that may come next, with what it means. */
export interface Candidate {
  readonly word: string
  readonly about: string
}

export interface CompletionSources {
  readonly commands: readonly CommandSpec[]
  /** Commands without settings, with what they do. */
  readonly builtIn: Readonly<Record<string, string>>
  readonly tools: readonly Pick<Tool, 'name' | 'title' | 'inputSchema'>[]
  /** The clients that the server can be added to. */
  readonly clients: readonly Candidate[]
}

/**
 * What the last of the words may become: words behind the name of the program, as a shell divides them.
 * Nothing where a shell may offer files.
 */
export function candidatesFor(words: readonly string[], sources: CompletionSources): Candidate[] {
  const line = typedLine(words, sources.commands)
  return candidatesOf(line, sources)
    .filter(({ word }) => word.startsWith(line.current))
    .map(({ word, about }) => ({ word: line.before + word, about }))
}

function candidatesOf(
  line: TypedLine,
  { commands, builtIn, tools, clients }: CompletionSources,
): Candidate[] {
  const { name, command, wantsCommand, operands, flag, current } = line
  const isCall = command?.name === 'call'
  const [operand] = operands
  if (isCall && operand !== undefined) {
    const tool = findTool(operand, tools)
    return tool ? argumentCandidates(line, tool) : []
  }
  const settings = command?.settings ?? commands[0]?.settings ?? {}
  if (flag !== undefined) return settingValues(flag, settings, tools)
  if (current.startsWith('-')) return settingCandidates(settings)
  if (wantsCommand) return commandCandidates(commands, builtIn)
  if (name === 'install' || name === 'uninstall')
    return clients.filter(({ word }) => !operands.includes(word))
  if (operands.length > 0) return []
  if (name === 'help') return commandCandidates(commands, builtIn)
  if (isCall || command?.name === 'tools')
    return tools.map((tool) => ({ word: tool.name, about: tool.title }))
  if (command?.name === 'completion') return shells.map(named)
  return []
}

const named = (word: string): Candidate => ({ word, about: '' })

const commandCandidates = (
  commands: readonly CommandSpec[],
  builtIn: CompletionSources['builtIn'],
): Candidate[] => [
  ...commands.map(({ name, about }) => ({ word: name, about })),
  ...Object.entries(builtIn).map(([word, about]) => ({ word, about })),
]

const settingCandidates = (settings: SettingGroup): Candidate[] => [
  ...Object.entries(settings).map(([name, { help }]) => ({ word: `--${name}`, about: help })),
  { word: '--help', about: 'Show the help.' },
]

/** Values of a setting; of a list of tools, their names. */
function settingValues(
  name: string,
  settings: SettingGroup,
  tools: CompletionSources['tools'],
): Candidate[] {
  const choices = settings[name]?.json.enum ?? []
  const isOfTools = name === 'tools' || name === 'exclude-tools'
  return [...choices, ...(isOfTools ? tools.map((tool) => tool.name) : [])].map(named)
}

/** Arguments of a tool, or the values of the one before. */
function argumentCandidates(
  { flag, current, rest }: TypedLine,
  { inputSchema }: Pick<Tool, 'inputSchema'>,
): Candidate[] {
  const schema = inputSchema()
  const place = flag === undefined ? undefined : knownPlace(flag, schema)?.schema
  const choices: unknown[] = place?.enum ?? Object(place?.items).enum ?? []
  if (choices.length > 0) return choices.map((choice) => named(String(choice)))
  const takesValue = flag === 'args' || (place !== undefined && place.type !== 'boolean')
  if (takesValue && !current.startsWith('--')) return []
  const flags = argumentRows(schema, { pinned: false }).flatMap(
    ({ path, schema: field, meaning }) => {
      const one = { word: flagOf(path), about: meaning }
      const isRepeated = rest.includes(one.word) && field.type !== 'array'
      const no = { word: one.word.replace('--', '--no-'), about: meaning }
      return isRepeated ? [] : [one, ...(field.type === 'boolean' ? [no] : [])]
    },
  )
  const own = Object.entries(ownFlags).map(([name, about]) => ({ word: `--${name}`, about }))
  return [...flags, ...own]
}
