import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { isFetched, packageId, realPath } from '../config/program-command.ts'
import type { Machine } from './clients.ts'

/** How a client starts this program. */
export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Variables that the command needs to start. */
  readonly env: Readonly<Record<string, string>>
}

/** The program that is to be started: this one, except in tests. */
export interface Program {
  /** The Node.js that runs it, which bin.ts has found new enough. */
  readonly execPath: string
  /** The file that it runs. */
  readonly script: string
  readonly packageId: string
}

export const thisProgram = (): Program => ({
  execPath: process.execPath,
  script: process.argv[1] ?? '',
  packageId,
})

type System = Pick<Machine, 'platform' | 'env'>

/**
 * A command that still works when the program was updated or its cache emptied. Paths of Node.js and
 * of the program are absolute, because desktop programs often do not see the PATH of a shell. A
 * program that npx has fetched has no lasting path: then it is npx again, with this version.
 */
export function launchCommand(program: Program, system: System): LaunchCommand {
  const { execPath, packageId } = program
  const script = lastingScript(program.script)
  if (!isFetched(script)) {
    return { command: lastingNode(execPath, system), args: [script], env: {} }
  }
  const args = ['-y', packageId]
  // On Windows npx is a batch file, which only the shell can start.
  if (system.platform === 'win32') return { command: 'cmd', args: ['/c', 'npx', ...args], env: {} }
  // npx starts "node" from PATH, so PATH begins with the folder of this Node.
  const folder = dirname(lastingNode(execPath, system))
  const path = [...new Set([folder, '/usr/local/bin', '/usr/bin', '/bin'])].join(':')
  return { command: join(folder, 'npx'), args, env: { PATH: path } }
}

/** The path as given survives an update where links lead to a version; a link in bin/ has no .js. */
const lastingScript = (script: string): string =>
  script.endsWith('.js') ? script : realPath(script)

/** Folders in PATH whose Node links exist for one shell or one package only. */
const passingNode = /[\\/](?:node_modules|fnm_multishells)[\\/]/

/**
 * The path of Node.js. Package managers keep each version in a folder of its own, which the next
 * update removes; the link to it that is in PATH stays.
 */
function lastingNode(execPath: string, { env, platform }: System): string {
  const name = platform === 'win32' ? 'node.exe' : 'node'
  const links = (env.PATH ?? env.Path ?? '')
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .map((folder) => join(folder, name))
  const real = realPath(execPath)
  return links.find((link) => !passingNode.test(link) && realPath(link) === real) ?? execPath
}
