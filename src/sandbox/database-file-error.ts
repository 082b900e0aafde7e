import type * as z from 'zod'
import { messageOf } from '../text/safe-text.ts'

/** Thrown if the database file cannot be used. The message names the file and the remedy. */
export class StoreError extends Error {
  override readonly name = 'StoreError'
}

/** Parses a row. Throws with the result code of a damaged file if it does not fit the schema. */
export function parsed<T>(row: z.ZodType<T>, found: unknown): T {
  try {
    return row.parse(found)
  } catch (cause) {
    throw Object.assign(new Error('a row has invalid values', { cause }), {
      errcode: corrupt,
    })
  }
}

/** Runs an access to the database, and rethrows its errors as a StoreError. */
export type Guard = <T>(use: () => T) => T

export function guardOf(file: string): Guard {
  return (use) => {
    try {
      return use()
    } catch (error) {
      const code = resultCode(error)
      if (error instanceof StoreError || (code !== undefined && bugCodes.has(code))) throw error
      const advice = (code !== undefined && advices[code]) || 'Move the file away'
      throw new StoreError(
        `The sandbox database ${file} cannot be used: ${messageOf(error)}. ${advice}, or name another with ` +
          'VOICE_AGENT_SANDBOX_DB (:memory: keeps nothing).',
        { cause: error },
      )
    }
  }
}

/**
 * SQLite's primary result code of an error (https://sqlite.org/rescode.html), if it has one. Errors
 * of the file system, from creating the folder, get the code that SQLite would use.
 */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error)) return undefined
  const { errcode, code, syscall } = error as Error & Record<string, unknown>
  if (typeof errcode === 'number') return errcode & 0xff
  if (syscall === undefined) return undefined
  return code === 'ENOSPC' || code === 'EDQUOT' ? full : cannotOpen
}

export const busy = 5
const corrupt = 11
const full = 13
const cannotOpen = 14

/** Result codes that mean a bug in this program, not a fault of the file. */
const bugCodes: ReadonlySet<number> = new Set([1, 18, 19, 20, 21, 25])

const permission = 'Let this program read and write the file and its folder'
const damaged =
  'The file is damaged or not a database: move it away together with its -wal and -shm files'

/** Remedies, by result code. */
const advices: Readonly<Record<number, string>> = {
  3: permission,
  [busy]: 'Another program has locked it: try again, end that program',
  8: permission,
  10: 'Its disk may be full or failing, or a limit on file sizes may be reached: free space',
  [corrupt]: damaged,
  [full]: 'Free space on its disk',
  [cannotOpen]: `It must be a file, not a folder. ${permission}`,
  26: damaged,
}
