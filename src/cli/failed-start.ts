import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { ConfigError } from '../config/config-error.ts'
import { type Environment, filledText } from '../config/setting-texts.ts'

/** What a person should know of an error that ends the program. */
export function failureText(error: unknown, hintFor: (error: Error) => string): string {
  if (error instanceof ConfigError) return `${error.message} See voice-agent-mcp --help.`
  if (error instanceof Error) return error.message + hintFor(error)
  return String(error)
}

/**
 * The form that the log was to have, where the settings could not be read: the error is written in
 * that form, too, because programs read a log of JSON line by line.
 */
export function logFormAfterFailure(argv: readonly string[], env: Environment): 'json' | 'text' {
  const given =
    lastFlag('log', argv) ??
    textIn(env.VOICE_AGENT_LOG) ??
    logInFile(lastFlag('config', argv) ?? textIn(env.VOICE_AGENT_CONFIG))
  return given === 'json' ? 'json' : 'text'
}

/** As config/setting-texts.ts reads texts: a blank one is not set. */
const textIn = (text: string | undefined) => filledText(text ?? '') || undefined

/** The last text of a flag, in either form of the command line. */
function lastFlag(name: string, argv: readonly string[]): string | undefined {
  const texts = argv.flatMap((argument, at) => {
    if (argument === `--${name}`) return argv[at + 1] ?? []
    return argument.startsWith(`--${name}=`) ? argument.slice(name.length + 3) : []
  })
  return textIn(texts.at(-1))
}

function logInFile(path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  try {
    return z.object({ log: z.string() }).parse(JSON.parse(readFileSync(path, 'utf8'))).log
  } catch {
    // The file may be what the error is about.
    return undefined
  }
}
