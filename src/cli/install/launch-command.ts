import { dirname, join } from 'node:path'
import { isFetched, packageId, pathFolders, realPath } from '../config/program-command.ts'
import type { Machine } from './clients.ts'

/** Command with which a client starts this program. */
export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Variables that the command needs to start. */
  readonly env: Readonly<Record<string, string>>
}

/** The program that clients are to start: this one, except in tests. */
export type Program = ReturnType<typeof thisProgram>

export const thisProgram = () => ({
  /** Path of Node.js, whose version bin.ts has checked. */
  execPath: process.execPath,
  /** Path of the program's script. */
  script: process.argv[1] ?? '',
  packageId,
})

type System = Pick<Machine, 'platform' | 'env'>

/**
 * Returns a command that survives updates of the program and an empty cache. Paths of Node.js and
 * of the program are absolute, because desktop programs often lack the PATH of a shell. A program
 * that npx fetched has no lasting path: its command is npx with this version.
 */
export function launchCommand(program: Program, system: System): LaunchCommand {
  const { execPath, packageId } = program
  const script = lastingScript(program.script)
  if (!isFetched(script)) {
    return { command: lastingNode(execPath, system), args: [script], env: {} }
  }
  const args = ['-y', packageId]
  // On Windows npx is a batch file, which needs the shell.
  if (system.platform === 'win32') return { command: 'cmd', args: ['/c', 'npx', ...args], env: {} }
  // npx starts "node" from PATH, so PATH begins with the folder of this Node.
  const folder = dirname(lastingNode(execPath, system))
  const path = [...new Set([folder, '/usr/local/bin', '/usr/bin', '/bin'])].join(':')
  return { command: join(folder, 'npx'), args, env: { PATH: path } }
}

/**
 * Script path that survives an update. The links in a .js path stay, because one may point to the
 * current version. A link in bin/ has no .js and is resolved.
 */
const lastingScript = (script: string): string =>
  script.endsWith('.js') ? script : realPath(script)

/** Folders in PATH whose Node.js belongs to one shell or one package. */
const passingNode = /[\\/](?:node_modules|fnm_multishells)[\\/]/

/**
 * Returns a path of Node.js that survives updates. Package managers keep each version in its own
 * folder, which the next update removes; the link in PATH stays.
 */
function lastingNode(execPath: string, { env, platform }: System): string {
  const name = platform === 'win32' ? 'node.exe' : 'node'
  const links = pathFolders(env).map((folder) => join(folder, name))
  const real = realPath(execPath)
  return links.find((link) => !passingNode.test(link) && realPath(link) === real) ?? execPath
}
