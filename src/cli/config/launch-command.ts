import { existsSync, realpathSync } from 'node:fs'
import { basename, delimiter, dirname, isAbsolute, join, relative } from 'node:path'
import packageJson from '../../../package.json' with { type: 'json' }
import type { Environment } from './given-settings.ts'

/** How this program was started. Commands that it prints or writes start it the same way. */
export interface ProgramStart {
  /** Path of Node.js. */
  readonly execPath: string
  /** Path of the script that Node.js runs. */
  readonly script: string
  readonly cwd: string
  readonly env: Environment
  readonly platform: NodeJS.Platform
}

const { name } = packageJson

/** Package with version, for npx and similar. */
export const packageId = `${name}@${packageJson.version}`

/**
 * Returns a command of this program for a shell, in the form in which it was started. `doctor`
 * becomes `node dist/voice-agent-mcp.js doctor` in a clone; `http --port 4000` becomes `npm start
 * -- --port 4000` after npm start.
 */
export function commandLine(words: string, start: ProgramStart = thisStart()): string {
  const [command = '', ...rest] = words.split(' ')
  if (ownNpmScript(start) === command) {
    const run = command === 'http' ? 'npm start' : `npm run ${command}`
    return [run, ...(rest.length > 0 ? ['--', ...rest] : [])].join(' ')
  }
  return `${programWords(start)} ${words}`
}

export const thisStart = (): ProgramStart => ({
  execPath: process.execPath,
  script: process.argv[1] ?? '',
  cwd: workingFolder(),
  env: process.env,
  platform: process.platform,
})

/** The working folder; `/` if it was removed. */
function workingFolder(): string {
  try {
    return process.cwd()
  } catch {
    return '/'
  }
}

/** The command of the npm script that started the program: `http` for `npm start`. */
const ownNpmScript = ({ env }: ProgramStart): string | undefined =>
  env.npm_package_name === name ? npmScripts[env.npm_lifecycle_event ?? ''] : undefined

const npmScripts: Environment = { start: 'http', sandbox: 'sandbox' }

/**
 * Rewrites the commands that errors mention (`doctor`, `calls stop`, `calls resume`) to the form in
 * which this program was started.
 */
export const withCommandLines = (text: string, start: ProgramStart = thisStart()): string =>
  text.replaceAll(/voice-agent-mcp (doctor|calls stop|calls resume)/g, (_, words) =>
    commandLine(words, start),
  )

/**
 * Package folders that exist for one run only, in the caches of npx, pnpm dlx, yarn dlx and bunx.
 */
const passingFolder = /[\\/](?:_npx|dlx-[^\\/]+|bunx-[^\\/]+|xfs-[^\\/]+[\\/]dlx-[^\\/]+)[\\/]/

/** True if a script was fetched for one run, such as by npx, so that its path does not last. */
const isFetched = (script: string): boolean => passingFolder.test(script)

/** The shell command that starts the program, without arguments. */
function programWords(start: ProgramStart): string {
  const { script, env, platform } = start
  const file = basename(script)
  // The script belongs to another program, which has imported this one.
  if (![name, `${name}.js`, 'bin.ts'].includes(file)) return name
  if (isFetched(script)) return `npx -y ${packageId}`
  if (env.npm_command === 'exec' && inNodeModules.test(script)) return `npx ${name}`
  const isInstalled = file === name || inNodeModules.test(script)
  const shim = platform === 'win32' ? `${name}.cmd` : name
  if (isInstalled && foldersOf(env).some((folder) => existsSync(join(folder, shim)))) return name
  const words = file === name ? [script] : [nodeFor(start), script]
  return words.map((word) => shown(word, start)).join(' ')
}

const inNodeModules = /[\\/]node_modules[\\/]/

const pathFolders = (env: Environment): string[] =>
  (env.PATH ?? env.Path ?? '').split(delimiter).filter((folder) => isAbsolute(folder))

/** The folders of PATH, without those that npm adds for one run. */
const foldersOf = (env: Environment): string[] =>
  pathFolders(env).filter((folder) => !inNodeModules.test(folder))

/** `node` if it resolves to this Node.js in a shell, else its path. */
function nodeFor({ execPath, env, platform }: ProgramStart): string {
  const file = nodeFile(platform)
  const first = foldersOf(env).find((folder) => existsSync(join(folder, file)))
  const isThis = first !== undefined && realPath(join(first, file)) === realPath(execPath)
  return isThis ? 'node' : execPath
}

/** A path as a shell word, relative to the working folder if that is shorter. */
function shown(path: string, start: ProgramStart): string {
  const { env, platform } = start
  // npm runs scripts in the package's folder. INIT_CWD is the folder where the user ran npm.
  const cwd = (ownNpmScript(start) && env.INIT_CWD) || start.cwd
  const near = isAbsolute(path) ? relative(cwd, path) : path
  const word = near !== '' && near.length < path.length ? near : path
  if (platform === 'win32') return word.includes(' ') ? `"${word}"` : word
  return quotedForShell(word)
}

/** A word of a POSIX shell. */
export const quotedForShell = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

/** Command with which an MCP client starts this program. */
export interface LaunchCommand {
  readonly command: string
  readonly args: readonly string[]
  /** Variables that the command needs to start. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Returns a command for clients that still works after updates of the program and of Node.js, and
 * with an empty cache. Paths are absolute, because desktop programs often lack the PATH of a shell.
 * A program that npx fetched has no lasting path: its command is npx, pinned to this version.
 */
export function launchCommand(start: Omit<ProgramStart, 'cwd'>): LaunchCommand {
  const script = lastingScript(start.script)
  if (!isFetched(script)) return { command: lastingNode(start), args: [script], env: {} }
  const args = ['-y', packageId]
  // On Windows npx is a batch file, which needs the shell.
  if (start.platform === 'win32') return { command: 'cmd', args: ['/c', 'npx', ...args], env: {} }
  // npx starts "node" from PATH, so PATH begins with the folder of this Node.
  const folder = dirname(lastingNode(start))
  const path = [...new Set([folder, '/usr/local/bin', '/usr/bin', '/bin'])].join(':')
  return { command: join(folder, 'npx'), args, env: { PATH: path } }
}

/**
 * Script path that survives an update. Links in a path that ends in .js are kept: one may point to
 * the current version. Other links, such as those in bin/, are resolved.
 */
const lastingScript = (script: string): string =>
  script.endsWith('.js') ? script : realPath(script)

/** Folders in PATH whose Node.js belongs to one shell or one package. */
const passingNode = /[\\/](?:node_modules|fnm_multishells)[\\/]/

/**
 * Returns a path of Node.js that survives updates. Package managers keep each version in its own
 * folder, which the next update removes; the link in PATH stays.
 */
function lastingNode({ execPath, env, platform }: Omit<ProgramStart, 'cwd'>): string {
  const real = realPath(execPath)
  const links = pathFolders(env).map((folder) => join(folder, nodeFile(platform)))
  return links.find((link) => !passingNode.test(link) && realPath(link) === real) ?? execPath
}

const nodeFile = (platform: NodeJS.Platform) => (platform === 'win32' ? 'node.exe' : 'node')

/** Resolves links. Returns the path unchanged if the file does not exist. */
function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
