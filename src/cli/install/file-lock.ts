import { closeSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { makePrivateFolder } from '../../state/private-files.ts'
import { ClientFileError, causeOf, codeOf } from './client-file.ts'

/**
 * From here on a lock is one that a run which was killed has left, ms. The work under it reads and
 * writes one small file without waiting for anything.
 */
const abandonedMs = 10_000

/** How often a lock is tried again, ms. */
const pauseMs = 20

/** After so many ms a person is told what is waited for. */
const toldAfterMs = 1000

/**
 * Does something to a file while no other run of this program does: without it, of two that read the
 * file at the same time the second would write over what the first has added. The lock is a file
 * beside it; `onWait` is told once when another run holds it for longer than usual. Throws
 * ClientFileError, and what `work` throws.
 */
export async function withFileLock<T>(
  path: string,
  work: () => T,
  onWait: (lock: string) => void,
): Promise<T> {
  const lock = join(dirname(path), `.${basename(path)}.voice-agent-mcp.lock`)
  for (let waitedMs = 0; !taken(lock); waitedMs += pauseMs) {
    if (waitedMs === toldAfterMs) onWait(lock)
    if (isAbandoned(lock)) rmSync(lock, { force: true })
    else await sleep(pauseMs)
  }
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

/** Makes the lock; `false`: there is one. */
function taken(lock: string): boolean {
  try {
    makePrivateFolder(dirname(lock))
    const descriptor = openSync(lock, 'wx', 0o600)
    writeFileSync(descriptor, `${process.pid}\n`)
    closeSync(descriptor)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw new ClientFileError(`it cannot be written ${causeOf(error)}`)
  }
}

/** The clock may have been set back since the lock was made: then its age is negative. */
function isAbandoned(lock: string): boolean {
  const made = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  return made !== undefined && Math.abs(Date.now() - made) > abandonedMs
}
