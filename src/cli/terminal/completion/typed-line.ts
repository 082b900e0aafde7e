import type { CommandSpec } from '../../../config/command-line.ts'
import type { SettingGroup } from '../../../config/setting.ts'

/** A command line up to the word that is completed. */
export interface TypedLine {
  /** The word in the place of the command. */
  readonly name: string | undefined
  /** The command of that name, if there is one. */
  readonly command: CommandSpec | undefined
  /** Whether the command still has to be named. */
  readonly wantsCommand: boolean
  /** What is named behind the command. */
  readonly operands: readonly string[]
  /** Words behind the first operand of a command that reads them itself. */
  readonly rest: readonly string[]
  /** The flag whose value is completed, without hyphens. */
  readonly flag: string | undefined
  /** The word that is completed; of `--flag=value` the value. */
  readonly current: string
  /** What stands before it in the same word, such as `--flag=`. */
  readonly before: string
}

/** Reads the words behind the name of the program; the last is the one to complete. */
export function typedLine(words: readonly string[], commands: readonly CommandSpec[]): TypedLine {
  const { earlier, current, before } = currentWord(withoutSigns(words))
  const settings: SettingGroup = Object.assign({}, ...commands.map((one) => one.settings))
  const positionals: string[] = []
  let flag: string | undefined
  for (const [at, word] of earlier.entries()) {
    const [name, ...others] = positionals
    const command = commands.find((one) => one.name === name)
    if (command?.readsRest && others.length > 0) {
      const rest = earlier.slice(at)
      return {
        name,
        command,
        wantsCommand: false,
        operands: others,
        rest,
        ...lastFlag(rest),
        current,
        before,
      }
    }
    if (flag !== undefined) flag = undefined
    else if (word.startsWith('--')) flag = valueFlag(word, settings)
    else positionals.push(word)
  }
  const [name, ...operands] = positionals
  const command = commands.find((one) => one.name === name)
  const wantsCommand = name === undefined
  return { name, command, wantsCommand, operands, rest: [], flag, current, before }
}

/** Bash divides words at `=` and hands the sign over as a word of its own. */
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

/** The setting that the next word is the value of. */
function valueFlag(word: string, settings: SettingGroup): string | undefined {
  const name = word.slice(2)
  return settings[name] !== undefined && settings[name].value !== '' ? name : undefined
}

/** The flag of a tool that comes last, which may take a value. */
function lastFlag(rest: readonly string[]): Pick<TypedLine, 'flag'> {
  const last = rest.at(-1)
  return { flag: last?.startsWith('--') && !last.includes('=') ? last.slice(2) : undefined }
}
