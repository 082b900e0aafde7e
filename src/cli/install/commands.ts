import type { InstallConfig } from '../../config/install.ts'
import type { Environment } from '../../config/setting-texts.ts'
import { install } from './install.ts'
import { launchCommand, thisProcess } from './launch-command.ts'
import { clientList, findClients } from './list.ts'
import { thisMachine } from './machine.ts'
import { InterruptedError, terminalQuestions } from './questions.ts'
import type { RunOptions, Surroundings } from './run.ts'
import { uninstall } from './uninstall.ts'
import { UsageError } from './usage-error.ts'

export { clients } from './clients.ts'

/*
 * What the commands install and uninstall do in this process. They load all of it with this file, so
 * that the other commands start without it. What the start of every command needs is passed in: as an
 * import it would become a file of its own, which every start would have to open.
 */

/** What the command line hands over. */
export interface Program extends Pick<Surroundings, 'closestWord' | 'exitCodes'> {
  readonly env: Environment
  /** The package with its version. */
  readonly packageId: string
}

/** Adds the server to clients, or lists them, and gives the exit code. */
export const runInstall = (
  config: InstallConfig & Pick<RunOptions, 'clients'>,
  program: Program,
): Promise<number> =>
  reported(program, async (here) => {
    if (config.isList) {
      here.print(clientList(findClients(here.machine, config.name), config.wantsJson))
      return here.exitCodes.done
    }
    const launch = launchCommand(thisProcess(program.env, program.packageId))
    const { baseUrl, apiKey, mayKeyBePlain, flags } = config
    const key = { isNeeded: baseUrl !== undefined, key: apiKey, mayBePlain: mayKeyBePlain }
    const args = [...launch.args, ...flags]
    return install({ ...config, key, launch: { ...launch, args } }, here)
  })

/** Takes the server out of clients, and gives the exit code. */
export const runUninstall = (options: RunOptions, program: Program): Promise<number> =>
  reported(program, (here) => uninstall(options, here))

/** Runs with this process: results on standard output, errors and questions on standard error. */
async function reported(
  { env, closestWord, exitCodes }: Program,
  run: (here: Surroundings) => Promise<number>,
): Promise<number> {
  const warn = (line: string) => process.stderr.write(`voice-agent-mcp: ${line}\n`)
  try {
    return await run({
      machine: thisMachine(env),
      questions: process.stdin.isTTY && process.stderr.isTTY ? terminalQuestions() : undefined,
      print: (line) => process.stdout.write(`${line}\n`),
      warn,
      closestWord,
      exitCodes,
    })
  } catch (error) {
    if (error instanceof InterruptedError) {
      process.stderr.write('\n')
      return exitCodes.interrupted
    }
    if (!(error instanceof UsageError)) throw error
    warn(error.message)
    return exitCodes[error.exit]
  }
}
