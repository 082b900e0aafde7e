import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { bin, cleanEnv } from '../harness/program.ts'

/** A sandbox program whose storage is nearly full. */
export interface Confined extends AsyncDisposable {
  readonly url: string
  /** Path of the sandbox's database. */
  readonly file: string
  freeSpace(): void
  /** Copies the current database to a folder that this process can read. */
  show(): void
}

/** A way to run out of storage. `isPossible`: this machine supports it. */
export interface Confinement {
  readonly name: string
  readonly isPossible: boolean
  start(folder: string): Promise<Confined>
}

const mountDisk = 'mount -t tmpfs -o size=3m tmpfs "$0" && head -c 2m /dev/zero > "$0/filler"'

/** A disk of 3 MB, mostly full, in the program's own mount namespace. */
const fullDisk: Confinement = {
  name: 'a full disk',
  isPossible: succeeds('unshare', ['-rm', 'sh', '-c', mountDisk, '/mnt']),
  async start(folder) {
    const command = ['-rm', 'sh', '-c', `${mountDisk} && exec "$@"`, folder]
    const file = `${folder}/sandbox.db`
    const { pid, ...program } = await start('unshare', command, file)
    const inside = `/proc/${pid}/root${folder}`
    return {
      ...program,
      file,
      freeSpace: () => rmSync(join(inside, 'filler')),
      // SQLite resolves /proc/…/root to this process's own root, where nothing is mounted, so the
      // files are copied.
      show() {
        for (const name of readdirSync(inside)) copyFileSync(join(inside, name), join(folder, name))
      },
    }
  },
}

/** A limit on file sizes, as `ulimit -f` sets it. */
const sizeLimit: Confinement = {
  name: 'a limit on the size of files',
  isPossible: succeeds('prlimit', ['--version']),
  async start(folder) {
    const file = `${folder}/sandbox.db`
    const { pid, ...program } = await start('prlimit', ['--fsize=600000:unlimited'], file)
    const freeSpace = () => {
      succeeds('prlimit', ['--pid', String(pid), '--fsize=unlimited'])
    }
    return { ...program, file, freeSpace, show: () => {} }
  },
}

export const confinements = [fullDisk, sizeLimit]

function succeeds(command: string, args: string[]): boolean {
  return spawnSync(command, args).status === 0
}

/** Starts the sandbox by a command that execs it, so that it has the process id of the child. */
async function start(command: string, args: string[], file: string) {
  const child = spawn(command, [...args, process.execPath, bin, 'sandbox', '--port', '0'], {
    env: cleanEnv({ VOICE_AGENT_SANDBOX_DB: file }),
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const url = await new Promise<string>((resolve, reject) => {
    let output = ''
    child.stderr.on('data', (chunk) => {
      output += chunk
      const found = /sandbox API at (\S+)\/v1/.exec(output)?.[1]
      if (found) resolve(found)
    })
    child.once('close', () => reject(new Error(`Ended without serving: ${output}`)))
  })
  return {
    url,
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'close')
    },
  }
}
