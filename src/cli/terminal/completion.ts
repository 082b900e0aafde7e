import { tools } from '../../../tools/index.ts'
import { safeLine } from '../../text/safe-text.ts'
import type { Tool } from '../../tool/tool.ts'
import { allSettings, allWord, builtInCommands, type CommandSpec } from '../config/command-line.ts'
import type { SettingGroup } from '../config/setting.ts'
import type { Terminal } from './terminal-io.ts'
import { findTool, flagOf, knownPlace, ownFlags } from './tool-arguments.ts'
import { argumentRows, firstSentence } from './tool-help.ts'

/** A candidate for the next word, with its description. */
interface Candidate {
  readonly word: string
  readonly about: string
}

interface CompletionSources {
  readonly commands: readonly CommandSpec[]
  /** The clients that the server can be added to. */
  readonly clients: readonly Candidate[]
}

/**
 * Candidates for the last word. `words` follow the program's name and are split as by a shell.
 * Empty where the shell should offer files.
 */
export function candidatesFor(words: readonly string[], sources: CompletionSources): Candidate[] {
  const line = typedLine(words, sources.commands)
  return candidatesOf(line, sources)
    .filter(({ word }) => word.startsWith(line.current))
    .map(({ word, about }) => ({ word: line.before + word, about }))
}

function candidatesOf(line: TypedLine, { commands, clients }: CompletionSources): Candidate[] {
  const { name, command, operands, flag, current, wantsHelp } = line
  const isCall = command?.name === 'call'
  const [operand] = operands
  if (isCall && operand !== undefined) {
    const tool = findTool(operand, tools)
    return tool ? argumentCandidates(line, tool) : []
  }
  const settings = command?.settings ?? commands[0]?.settings ?? {}
  if (flag !== undefined) return settingValues(flag, settings)
  if (current.startsWith('-')) return settingCandidates(settings)
  if (wantsHelp || name === 'help') return helpCandidates(line, commands)
  if (name === undefined) return commandCandidates(commands)
  if (name === 'install' || name === 'uninstall')
    return clients.filter(({ word }) => !operands.includes(word))
  if (operands.length > 0) return []
  if (isCall || command?.name === 'tools') return toolCandidates
  return wordsOf(command).map(named)
}

const toolCandidates = tools.map(
  (tool): Candidate => ({ word: tool.name, about: tool.description }),
)

/** Topics of help: a command; a tool after `call` and `tools`; and `all`. */
function helpCandidates(
  { name, operands }: TypedLine,
  commands: readonly CommandSpec[],
): Candidate[] {
  const [about, ...further] = name === 'help' ? operands : [name, ...operands]
  const all = { word: allWord, about: 'Show every option.' }
  if (about === undefined) return [...commandCandidates(commands), all]
  if (further.length > 0 || !commands.some((command) => command.name === about)) return []
  return [...(about === 'call' || about === 'tools' ? toolCandidates : []), all]
}

/** The operands of a command, if its help lists all of them, such as `bash|zsh|fish`. */
const wordsOf = (command: CommandSpec | undefined): string[] =>
  /^\w+(\|\w+)+$/.test(command?.operands ?? '') ? (command?.operands ?? '').split('|') : []

const named = (word: string): Candidate => ({ word, about: '' })

const commandCandidates = (commands: readonly CommandSpec[]): Candidate[] => [
  ...commands.map(({ name, about }) => ({ word: name, about })),
  ...Object.entries(builtInCommands).map(([word, about]) => ({ word, about })),
]

const settingCandidates = (settings: SettingGroup): Candidate[] => [
  ...Object.entries(settings).map(([name, { help }]) => ({ word: `--${name}`, about: help })),
  { word: '--help', about: 'Show the help.' },
]

/** Values of a setting; for a list of tools, their names. */
function settingValues(name: string, settings: SettingGroup): Candidate[] {
  const choices = settings[name]?.json.enum ?? []
  const isOfTools = name === 'tools' || name === 'exclude-tools'
  return [...choices, ...(isOfTools ? tools.map((tool) => tool.name) : [])].map(named)
}

/** Arguments of a tool, or values of the preceding argument. */
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
  const flags = argumentRows(schema).flatMap(({ path, schema: field, meaning }) => {
    const one = { word: flagOf(path), about: meaning }
    const isRepeated = rest.includes(one.word) && field.type !== 'array'
    const no = { word: one.word.replace('--', '--no-'), about: meaning }
    return isRepeated ? [] : [one, ...(field.type === 'boolean' ? [no] : [])]
  })
  const own = Object.entries(ownFlags).map(([name, about]) => ({ word: `--${name}`, about }))
  return [...flags, ...own]
}

/** A command line up to the word that is completed. */
interface TypedLine {
  /** The word in the position of the command; `undefined`: not typed yet. */
  readonly name: string | undefined
  /** The command named `name`; `undefined` for an unknown name. */
  readonly command: CommandSpec | undefined
  /** True with `--help`. */
  readonly wantsHelp: boolean
  /** Words after the command, without flags. */
  readonly operands: readonly string[]
  /** Words after the first operand, for a command that reads them itself. */
  readonly rest: readonly string[]
  /** The flag whose value is completed, without hyphens. */
  readonly flag: string | undefined
  /** The word that is completed. For `--flag=value`, only the value. */
  readonly current: string
  /** The text before `current` in the same word, such as `--flag=`. */
  readonly before: string
}

/** Parses the words after the program's name; the last one is to be completed. */
function typedLine(words: readonly string[], commands: readonly CommandSpec[]): TypedLine {
  const { earlier, current, before } = currentWord(withoutSigns(words))
  const settings = allSettings(commands)
  const wantsHelp = earlier.includes('--help') || earlier.includes('-h')
  const commandNamed = (name: string | undefined) => commands.find((one) => one.name === name)
  const positionals: string[] = []
  let rest: readonly string[] = []
  let flag: string | undefined
  for (const [at, word] of earlier.entries()) {
    if (positionals.length > 1 && commandNamed(positionals[0])?.readsRest) {
      rest = earlier.slice(at)
      flag = lastFlag(rest)
      break
    }
    if (flag !== undefined) flag = undefined
    else if (word.startsWith('-')) flag = valueFlag(word, settings)
    else positionals.push(word)
  }
  const [name, ...operands] = positionals
  return { name, command: commandNamed(name), operands, rest, flag, current, before, wantsHelp }
}

/** Bash splits words at `=` and passes the sign as a word of its own. */
const withoutSigns = (words: readonly string[]) =>
  words
    .filter((word, at) => word !== '=' || at === words.length - 1)
    .map((word) => (word === '=' ? '' : word))

function currentWord(words: readonly string[]) {
  const earlier = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  const [, flag, value] = /^(--[^=]+)=(.*)$/s.exec(last) ?? []
  return flag === undefined || value === undefined
    ? { earlier, current: last, before: '' }
    : { earlier: [...earlier, flag], current: value, before: `${flag}=` }
}

function valueFlag(word: string, settings: SettingGroup): string | undefined {
  const name = word.slice(2)
  return settings[name] !== undefined && settings[name].value !== '' ? name : undefined
}

/** The last flag for a tool. The next word may be its value. */
function lastFlag(rest: readonly string[]): string | undefined {
  const last = rest.at(-1)
  return last?.startsWith('--') && !last.includes('=') ? last.slice(2) : undefined
}

const longestAbout = 80

/** Prints the candidates for the last word. */
export async function complete(
  words: readonly string[],
  sources: CompletionSources,
  { print }: Terminal,
): Promise<void> {
  const lines = candidatesFor(words, sources).map(
    ({ word, about }) => `${word}\t${shortAbout(about)}`,
  )
  if (lines.length > 0) await print(lines.join('\n'))
}

/** The first sentence, on one line. */
function shortAbout(about: string): string {
  const text = safeLine(firstSentence(about))
  return text.length > longestAbout ? `${text.slice(0, longestAbout - 1)}…` : text
}

export const shells = ['bash', 'zsh', 'fish'] as const
type Shell = (typeof shells)[number]

/*
 * The scripts ask the program for candidates, so that completion matches the installed version.
 * Output: one candidate per line, with a tab before the description. Without candidates the shell
 * offers files.
 */

const bash = `# Completion of voice-agent-mcp for bash. In ~/.bashrc: eval "$(voice-agent-mcp completion bash)"
_voice_agent_mcp() {
  local word
  COMPREPLY=()
  while IFS=$'\\t' read -r word _; do
    COMPREPLY+=("$word")
  done < <("$1" completion candidates "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -o bashdefault -F _voice_agent_mcp voice-agent-mcp`

const zsh = `#compdef voice-agent-mcp
# Completion of voice-agent-mcp for zsh. In ~/.zshrc, after compinit: eval "$(voice-agent-mcp completion zsh)"
_voice_agent_mcp() {
  local -a candidates
  local line
  for line in "\${(@f)$("\${words[1]}" completion candidates "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if (( \${#candidates} )); then
    _describe -V voice-agent-mcp candidates
  else
    _files
  fi
}
if [[ \${funcstack[1]} == _voice_agent_mcp ]]; then
  _voice_agent_mcp "$@"
else
  compdef _voice_agent_mcp voice-agent-mcp
fi`

const fish = `# Completion of voice-agent-mcp for fish. In ~/.config/fish/config.fish: voice-agent-mcp completion fish | source
function __voice_agent_mcp_candidates
    set -l words (commandline -opc) (commandline -ct)
    set -l candidates (command $words[1] completion candidates $words[2..-1] 2>/dev/null)
    if test (count $candidates) -gt 0
        printf '%s\\n' $candidates
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c voice-agent-mcp -f -a '(__voice_agent_mcp_candidates)'`

/** Completion scripts by shell. */
export const completionScripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
