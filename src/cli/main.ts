import packageJson from '../../package.json' with { type: 'json' }
import { ConfigError } from '../config/config-error.ts'
import { exitCodes } from '../config/exit-codes.ts'
import { helpText } from '../config/help.ts'
import { commands, readConfig } from './commands/index.ts'
import { failureText, logFormAfterFailure } from './failed-start.ts'
import { log, logEnd, silenceSqliteWarning } from './stderr-log.ts'
import { stopSignal } from './stop-signal.ts'
import { textWidth } from './text-width.ts'

/**
 * Runs the program to its end and gives the exit code. An error that ends it is logged, with what
 * `hintFor` knows of it.
 */
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
    if (config.command === 'help')
      return await print(helpText(commands, config.about, textWidth(env)))
    if (config.command === 'version') return await print(`${packageJson.version}\n`)
    // Install the signal handlers first, so that a signal during the start stops cleanly, too.
    const stopped = stopSignal()
    const running = await config.start()
    await Promise.race([running.done, stopped])
    await running.close()
    // A server ends when it is told to, whether or not its client still reads.
    if (!running.exitCode) return checkOutput(exitCodes.done)
    await Promise.race([outputTaken(), stopped])
    const code = checkOutput(running.exitCode())
    const isCut = code === exitCodes.done && process.stdout.writableLength > 0
    return isCut ? exitCodes.interrupted : code
  } catch (error) {
    logEnd(failureText(error, hintFor), logFormAfterFailure(argv, env))
    return error instanceof ConfigError ? error.exitCode : exitCodes.failed
  }
}

let outputError: Error | undefined

/**
 * The exit code: what came to nothing on a full disk is no success. A reader that has gone, such as
 * `head`, has what it wants.
 */
function checkOutput(code: number): number {
  // Node clears `errored` soon, and tells the event only after it.
  const error = outputError ?? process.stdout.errored
  if (!error || hasCode(error, 'EPIPE')) return code
  log(`The output is incomplete: it could not be written (${error.message}).`, 'error')
  return code === exitCodes.done ? exitCodes.unknown : code
}

const hasCode = (error: Error, code: string) => 'code' in error && error.code === code

/**
 * Resolves when everything written is with the reader, or is lost. A reader such as a pager takes its
 * time, and the process ends soon after the exit code is known (bin.ts).
 */
const outputTaken = () => new Promise<void>((resolve) => process.stdout.write('', () => resolve()))

async function print(text: string): Promise<number> {
  process.stdout.write(text)
  await outputTaken()
  return checkOutput(exitCodes.done)
}
