import { randomBytes } from 'node:crypto'
import { accessSync, constants, existsSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Reason why this program cannot write in a folder; `undefined`: it can. For a missing folder,
 * checks the nearest existing parent, in which the folder would be created. Removes its probe file.
 */
export function unwritableFolder(folder: string): string | undefined {
  const existing = nearestExisting(folder)
  try {
    if (!statSync(existing).isDirectory()) return `${existing} is not a folder`
    const file = join(existing, `.voice-agent-mcp-${randomBytes(6).toString('hex')}`)
    writeFileSync(file, 'a', { flag: 'wx', mode: 0o600 })
    rmSync(file)
    return undefined
  } catch (error) {
    return `${existing} cannot be written to (${codeOf(error)})`
  }
}

/** Reason why this program cannot write to an existing file; `undefined`: it can. */
export function unwritableFile(file: string): string | undefined {
  try {
    accessSync(file, constants.R_OK | constants.W_OK)
    return undefined
  } catch (error) {
    return `${file} cannot be read and written (${codeOf(error)})`
  }
}

function nearestExisting(path: string): string {
  const parent = dirname(path)
  return existsSync(path) || parent === path ? path : nearestExisting(parent)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error)
