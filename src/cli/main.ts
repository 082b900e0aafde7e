import { readFileSync } from 'node:fs'
import * as z from 'zod/mini'
import packageJson from '../../package.json' with { type: 'json' }
import { commands, readConfig } from './commands/index.ts'
import { ConfigError } from './config/config-error.ts'
import { exitCodes } from './config/exit-codes.ts'
import { type Environment, filledText } from './config/given-settings.ts'
import { commandLine } from './config/launch-command.ts'
import { log, logEnd, silenceSqliteWarning } from './observability.ts'

/** Runs the program and returns the exit code. Logs a fatal error with the hint of `hintFor`. */
export async function main(
  argv: readonly string[],
  env: NodeJS.ProcessEnv,
  hintFor: (error: Error) => string,
): Promise<number> {
  silenceSqliteWarning()
  process.stdout.once('error', (error) => {
    outputError = error
  })
  try {
    const config = readConfig(argv, env)
    if (config.command === 'help') {
      const [{ helpText }, { textWidth }] = await Promise.all([
        import('./help.ts'),
        import('./terminal/terminal-io.ts'),
      ])
      return await print(helpText(commands, { ...config, width: textWidth(env) }))
    }
    if (config.command === 'version') return await print(`${packageJson.version}\n`)
    // Install the signal handlers first, so that a signal during the start also stops cleanly.
    const stopped = stopSignal()
    const running = await config.start()
    // Warnings come after the start, because the start sets the log's format.
    for (const warning of config.warnings) log(warning, 'warn')
    await Promise.race([running.done, stopped])
    await running.close()
    // Only servers have no `exitCode`. They do not wait until their output has been read, because
    // the client may have stopped reading.
    if (!running.exitCode) return checkOutput(exitCodes.done)
    await Promise.race([outputTaken(), stopped])
    const code = checkOutput(running.exitCode())
    const isCut = code === exitCodes.done && process.stdout.writableLength > 0
    return isCut ? exitCodes.interrupted : code
  } catch (error) {
    logEnd(failureText(error, argv, hintFor), logFormAfterFailure(argv, env))
    return error instanceof ConfigError ? error.exitCode : exitCodes.failed
  }
}

let outputError: Error | undefined

/** Returns the exit code. A full disk is a failure. A closed pipe, such as of `head`, is not. */
function checkOutput(code: number): number {
  // `outputError` is set by the 'error' event. Node clears `errored` before that event.
  const error = outputError ?? process.stdout.errored
  if (!error || ('code' in error && error.code === 'EPIPE')) return code
  log(`The output is incomplete: it could not be written (${error.message}).`, 'error')
  return code === exitCodes.done ? exitCodes.unknown : code
}

/**
 * Resolves when all output is flushed or lost. bin.ts exits soon after the exit code is known, but
 * a reader such as a pager may be slow.
 */
const outputTaken = () => new Promise<void>((resolve) => process.stdout.write('', () => resolve()))

async function print(text: string): Promise<number> {
  process.stdout.write(text)
  await outputTaken()
  return checkOutput(exitCodes.done)
}

/** Message for an error that ends the program. */
function failureText(
  error: unknown,
  [first]: readonly string[],
  hintFor: (error: Error) => string,
): string {
  if (error instanceof ConfigError) {
    const named = commands.find(({ name }) => name === first)
    return `${error.message} See ${commandLine(named ? `${named.name} --help` : '--help')}`
  }
  if (error instanceof Error) return error.message + hintFor(error)
  return String(error)
}

/**
 * Log format if the settings could not be read. With `--log json` the error must still be JSON,
 * because programs parse the log.
 */
function logFormAfterFailure(argv: readonly string[], env: Environment): 'json' | 'text' {
  const given =
    lastFlag('log', argv) ??
    textIn(env.VOICE_AGENT_LOG) ??
    logInFile(lastFlag('config', argv) ?? textIn(env.VOICE_AGENT_CONFIG))
  return given === 'json' ? 'json' : 'text'
}

/** Blank means not set, as in cli/config/given-settings.ts. */
const textIn = (text: string | undefined) => filledText(text ?? '') || undefined

/** The last value of a flag, given as `--name value` or `--name=value`. */
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
    // This file may be the cause of the error that is logged.
    return undefined
  }
}

/**
 * Resolves with the first SIGINT, SIGTERM, or SIGHUP (the terminal is closed). A second signal ends
 * the process at once.
 */
function stopSignal(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let isStopping = false
  const listen = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP', exitCode: number) =>
    process.on(signal, () => {
      if (isStopping) process.exit(exitCode)
      isStopping = true
      resolve()
    })
  // Exit codes as shells report them for a process that a signal ended: 128 + the signal's number.
  listen('SIGINT', exitCodes.interrupted)
  listen('SIGTERM', 143)
  listen('SIGHUP', 129)
  return promise
}
